"""A real RTSP camera on this machine: JPEG over RTP (RFC 2435) in the RTSP connection itself (RFC 2326, 10.12)."""

from __future__ import annotations

import socketserver
import struct

import cv2
from network_camera import NetworkCamera, Server

CHUNK = 1400


class Handler(socketserver.StreamRequestHandler):
    server: Server

    def handle(self) -> None:
        while (request := self._request()) is not None:
            verb, headers = request
            self._answer(verb, headers)
            if verb == "PLAY":
                self._play()
                return

    def _request(self) -> tuple[str, dict[str, str]] | None:
        lines: list[str] = []
        while line := self.rfile.readline().decode("ascii", "replace").strip():
            lines.append(line)
        if not lines:
            return None
        return lines[0].split()[0], dict(x.split(": ", 1) for x in lines[1:] if ": " in x)

    def _answer(self, verb: str, headers: dict[str, str]) -> None:
        extra, body = "", ""
        if verb == "OPTIONS":
            extra = "Public: DESCRIBE, SETUP, PLAY, TEARDOWN\r\n"
        elif verb == "DESCRIBE":
            body = ("v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=table\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"
                    "m=video 0 RTP/AVP 26\r\na=control:stream\r\n")
            extra = f"Content-Type: application/sdp\r\nContent-Base: {self.server.camera.url}/\r\n"
        elif verb == "SETUP":
            extra = "Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\nSession: 1\r\n"
        elif verb == "PLAY":
            extra = "Session: 1\r\n"
        length = f"Content-Length: {len(body)}\r\n" if body else ""
        self.wfile.write(f"RTSP/1.0 200 OK\r\nCSeq: {headers.get('CSeq', '1')}\r\n{extra}{length}\r\n{body}"
                         .encode("ascii"))

    def _play(self) -> None:
        camera, number, stamp = self.server.camera, 0, 0
        try:
            while not self.server.stopped.wait(camera.period_s):
                stamp += round(90000 * camera.period_s)
                for last, payload in camera.packets():
                    head = struct.pack("!BBHII", 0x80, 26 | (0x80 if last else 0), number & 0xFFFF, stamp, 7)
                    self.wfile.write(b"$\0" + struct.pack("!H", len(head) + len(payload)) + head + payload)
                    number += 1
        except OSError:
            return


class RtspCamera(NetworkCamera):
    """At ``url``."""

    handler = Handler

    def __init__(self, size: tuple[int, int] = (320, 240), period_s: float = 0.04) -> None:
        super().__init__(size, period_s)

    @property
    def url(self) -> str:
        return f"rtsp://127.0.0.1:{self.port}/table"

    def packets(self) -> list[tuple[bool, bytes]]:
        """The next picture as RTP payloads, each with whether it is the last."""
        image = self.grey()
        image[::16, ::16] = 255 - image[0, 0, 0]
        data = cv2.imencode(".jpg", image)[1].tobytes()
        tables, at = b"", 2
        while data[at + 1] != 0xDA:  # up to the start of the scan
            length = int.from_bytes(data[at + 2:at + 4], "big")
            if data[at + 1] == 0xDB:
                body = data[at + 4:at + 2 + length]
                tables += b"".join(body[n + 1:n + 65] for n in range(0, len(body), 65))
            at += 2 + length
        scan = data[at + 2 + int.from_bytes(data[at + 2:at + 4], "big"):]
        out = []
        for offset in range(0, len(scan), CHUNK):
            head = struct.pack("!IBBBB", offset, 1, 255, self.size[0] // 8, self.size[1] // 8)  # 4:2:0, own tables
            if offset == 0:
                head += struct.pack("!BBH", 0, 0, len(tables)) + tables
            out.append((offset + CHUNK >= len(scan), head + scan[offset:offset + CHUNK]))
        return out
