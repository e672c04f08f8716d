"""Train the network that spots tiles in a picture of a table (needs PyTorch and onnx, which bastide itself does not).

``python -m training.make_tables PIECES.npz COUNT SEED`` for some seeds, then
``python -m training.train_spots OUT.onnx PIECES.npz... --samples N --state STATE.pt``; run again with the same STATE to
resume. The last fortieth of every file is held out for evaluation. The network in ``vision/models`` was trained on the
seeds 21 (3000 pieces), 22 (5000) and 23 (7000) in three runs: 45000 samples of 21 and 22 at a rate of 0.003, 15000 of
the same at 0.0025, 6500 of 22 and 23 at 0.002, drawn by this folder at d22e258. On held-out data it then finds 75 % of
the centres, with 1.3 % of the other cells false.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from vision.spotting import CELL_PX, OUTPUTS, SIDES_PX, USUAL_PX

CORE, TILE = 0.33, 0.5  # of a tile from its centre: cells that are positives for "centre", and for "on a tile"
SEEN, HALF_SEEN = 0.75, 0.4  # visible fraction of a positive tile; between the two it is ignored
WIDE = 64


def block(wide: int, dilation: int) -> nn.Module:
    def conv() -> nn.Module:
        return nn.Conv2d(wide, wide, 3, padding=dilation, dilation=dilation, bias=False)

    return nn.Sequential(conv(), nn.BatchNorm2d(wide), nn.ReLU(inplace=True), conv(), nn.BatchNorm2d(wide))


class Net(nn.Module):
    """(N, 3, H, W) BGR 0 .. 1 to (N, OUTPUTS, H / CELL_PX, W / CELL_PX)."""

    def __init__(self) -> None:
        super().__init__()

        def layer(i: int, o: int, size: int, stride: int) -> nn.Module:
            return nn.Sequential(
                nn.Conv2d(i, o, size, stride=stride, padding=size // 2, bias=False),
                nn.BatchNorm2d(o),
                nn.ReLU(inplace=True),
            )

        self.stem = nn.Sequential(layer(3, 16, 5, 2), layer(16, 32, 3, 2), layer(32, 32, 3, 1))
        self.fine, self.down = block(32, 1), layer(32, WIDE, 3, 2)
        self.blocks = nn.ModuleList(block(WIDE, d) for d in (1, 2, 4, 1))
        self.head = nn.Sequential(layer(WIDE, WIDE, 1, 1), nn.Conv2d(WIDE, OUTPUTS, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.stem(x * 2 - 0.8)
        x = self.down(F.relu(x + self.fine(x)))
        for near in self.blocks:
            x = F.relu(x + near(x))
        return self.head(x)


def targets(corners: np.ndarray, seen: np.ndarray, size: int) -> np.ndarray:
    """(OUTPUTS, cells, cells) float16 targets of one picture; NaN where undefined."""
    cells = size // CELL_PX
    out = np.full((OUTPUTS, cells, cells), np.nan, np.float32)
    out[0] = out[8] = 0.0
    y, x = np.mgrid[0:cells, 0:cells] * float(CELL_PX) + CELL_PX / 2
    for square, part in zip(corners, seen, strict=True):
        if np.isnan(square).any():
            continue
        u, v = (square[1] + square[2] - square[0] - square[3]) / 2, (square[3] + square[2] - square[0] - square[1]) / 2
        side2 = abs(float(u[0] * v[1] - u[1] * v[0]))
        middle = _crossing(square)
        away = np.stack([x - middle[0], y - middle[1]])
        steps = np.linalg.solve(np.stack([u, v], axis=1).astype(float), away.reshape(2, -1)).reshape(2, cells, cells)
        far = np.abs(steps).max(axis=0)
        on, core = far < TILE, far < CORE
        if part < HALF_SEEN or side2 < 1:
            out[0][on] = out[8][on] = np.nan
            continue
        out[8][on] = 1.0
        out[0][on & ~core] = np.where(far < 0.42, np.nan, 0.0)[on & ~core]
        out[0][core] = 1.0 if part > SEEN else np.nan
        a, b = complex(*u) ** 2, complex(*v) ** 2
        whole = abs(complex(*u)) * abs(complex(*v))
        s, p = (a + b) / whole, a * b / whole**2
        near = far < 0.45
        for n, value in enumerate(
            (-away[0] / 16, -away[1] / 16, np.log(np.sqrt(side2) / USUAL_PX), p.real, p.imag, s.real, s.imag)
        ):
            out[1 + n][near] = value[near] if isinstance(value, np.ndarray) else value
    return out.astype(np.float16)


def _crossing(square: np.ndarray) -> np.ndarray:
    """The intersection of the diagonals: a tile's centre in perspective."""
    a, b, c, d = square.astype(float)
    t = np.linalg.solve(np.stack([c - a, b - d], axis=1), b - a)[0]
    return a + t * (c - a)


def _side(corners: np.ndarray) -> np.ndarray:
    """(N, M) sides of squares of the same area as these tiles, px."""
    east, south = corners[:, :, 1] - corners[:, :, 0], corners[:, :, 3] - corners[:, :, 0]
    return np.sqrt(np.abs(east[..., 0] * south[..., 1] - east[..., 1] * south[..., 0]))


def turned(x: torch.Tensor, y: torch.Tensor, k: int, mirror: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Pictures and targets rotated by ``k`` quarters anticlockwise, then mirrored."""
    x, y = torch.rot90(x, k, (2, 3)), torch.rot90(y, k, (2, 3)).clone()
    for _ in range(k):
        dx, dy = y[:, 1].clone(), y[:, 2].clone()
        y[:, 1], y[:, 2] = dy, -dx
        y[:, 6:8] = -y[:, 6:8]
    if mirror:
        x, y = x.flip(3), y.flip(3)
        y[:, 1], y[:, 5], y[:, 7] = -y[:, 1], -y[:, 5], -y[:, 7]
    return x, y


def loss_of(out: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    def binary(n: int) -> torch.Tensor:
        asked = ~y[:, n].isnan()
        logits, truth = out[:, n][asked], y[:, n][asked]
        each = F.binary_cross_entropy_with_logits(logits, truth, reduction="none")
        hard = (torch.sigmoid(logits.detach()) - truth).abs()
        return (each * (0.15 + hard)).mean() * 3

    known = ~y[:, 1].isnan()
    where = known[:, None].expand(-1, 7, -1, -1)
    each = F.smooth_l1_loss(out[:, 1:8][where], y[:, 1:8][where], beta=0.5)
    return 4 * binary(0) + binary(8) + 8 * each


@torch.no_grad()
def measure(net: Net, x: torch.Tensor, y: torch.Tensor) -> str:
    net.eval()
    out = torch.cat([net(part.float() / 255) for part in x.split(16)])
    net.train()
    asked = ~y[:, 0].isnan()
    odds, truth = out[:, 0][asked], y[:, 0][asked] > 0.5
    known = (y[:, 0] == 1) & ~y[:, 1].isnan()
    off = [(out[:, k][known] - y[:, k][known]).abs().mean().item() for k in range(1, 8)]
    return (
        f"of middles {(odds[truth] > 0).float().mean():.4f} right,"
        f" of the rest {(odds[~truth] > 0).float().mean():.5f} wrong,"
        f" log loss {loss_of(out, y):.4f}, off " + " ".join(f"{v:.3f}" for v in off)
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("pieces", type=Path, nargs="+")
    parser.add_argument("--samples", type=int, default=40000)
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--state", type=Path, help="weights to begin with and to keep")
    options = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    rng = np.random.default_rng(7)
    start = time.time()
    xs, ys, held = [], [], []
    for file in options.pieces:
        with np.load(file) as part:
            pictures, corners, seen = part["pictures"], part["corners"], part["seen"]
        side = _side(corners)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            side = np.nanmedian(side, axis=1)
        use = ~((side < SIDES_PX[0]) | (side > SIDES_PX[1]))  # pictures without a tile are kept
        pictures, corners, seen = pictures[use], corners[use], seen[use]
        y = np.array([targets(c, s, pictures.shape[1]) for c, s in zip(corners, seen, strict=True)])
        last = len(pictures) * 39 // 40
        xs.append(pictures[:last])
        ys.append(y[:last])
        held.append((pictures[last:], y[last:]))
    x, y = torch.from_numpy(np.concatenate(xs)), torch.from_numpy(np.concatenate(ys))
    held_x = torch.from_numpy(np.concatenate([h[0] for h in held])).permute(0, 3, 1, 2)
    held_y = torch.from_numpy(np.concatenate([h[1] for h in held])).float()
    print(f"{len(x)} pieces, {time.time() - start:.0f}s", flush=True)
    net = Net().to(memory_format=torch.channels_last)
    if options.state is not None and options.state.exists():
        net.load_state_dict(torch.load(options.state, weights_only=True), strict=False)
    optimiser = torch.optim.AdamW(net.parameters(), lr=options.rate, weight_decay=0.01)
    done, size = 0, 12
    while done < options.samples:
        for group in optimiser.param_groups:
            group["lr"] = (
                options.rate * min(1.0, done / 2500 + 0.03) * (0.5 + 0.5 * np.cos(np.pi * done / options.samples))
                + 1e-5
            )
        rows = torch.from_numpy(rng.integers(0, len(x), size))
        bx = x[rows].permute(0, 3, 1, 2).float() / 255
        bx, by = turned(bx, y[rows].float(), int(rng.integers(4)), bool(rng.integers(2)))
        gain = torch.from_numpy(rng.uniform(0.75, 1.3, (size, 3, 1, 1)).astype(np.float32))
        bx = (bx * gain).clamp(0, 1).contiguous(memory_format=torch.channels_last)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            out = net(bx)
        loss = loss_of(out.float(), by)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        optimiser.step()
        done += size
        if done // size % 50 == 0:
            print(f"{done} loss {loss.item():.3f} {time.time() - start:.0f}s", flush=True)
        if done // size % 500 == 0:
            print(measure(net, held_x, held_y), flush=True)
            _export(net, options)
    print(measure(net, held_x, held_y), flush=True)
    _export(net, options)
    return 0


def _export(net: Net, options: argparse.Namespace) -> None:
    if options.state is not None:
        torch.save(net.state_dict(), options.state)
    net.eval()
    axes = {2: "h", 3: "w"}
    torch.onnx.export(
        net,
        torch.zeros(1, 3, 256, 256),
        str(options.out),
        input_names=["picture"],
        output_names=["said"],
        dynamic_axes={"picture": axes, "said": axes},
        dynamo=False,
    )
    net.train()


if __name__ == "__main__":
    raise SystemExit(main())
