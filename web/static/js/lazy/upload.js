// Uploads a file to the table, in chunks that are each hardly larger than any other request.

import { post } from "../access.js";
import { h, pause } from "../dom.js";
import { number, t } from "../i18n.js";

const PIECE = 49_152,
  TRIES = 5,
  PAUSE_MS = 500;

export const megabytes = (bytes) => t("backup.mb", { n: number(Math.max(0.1, Math.round(bytes / 1e5) / 10)) });

/** @param {string} id @param {string} accept @param {(file: File) => void} take */
export function fileInput(id, accept, take) {
  const input = h("input", {
    type: "file",
    accept,
    id,
    class: "file",
    data: { key: id },
    on: {
      change: () => {
        const [file] = input.files;
        if (file) take(file);
        input.value = ""; // the same file may be chosen again
      },
    },
  });
  return input;
}

// A chunk that was lost is sent again. Returns null when all have arrived, otherwise why not: the table's
// refusal, or code "offline". `sent` gets the share sent, `stopped` says whether it was cancelled.
export async function upload(url, file, { sent, stopped }) {
  for (let at = 0, tries = 0; at < file.size && !stopped(); ) {
    sent(at / file.size);
    try {
      const answer = await post(`${url}?at=${at}`, file.slice(at, at + PIECE), "PUT"),
        data = await answer.json();
      if (!answer.ok) return data.error;
      at = data.upload;
      tries = 0;
    } catch {
      tries += 1;
      if (tries > TRIES) return { code: "offline" };
      await pause(PAUSE_MS * tries);
    }
  }
  return null;
}

export const sending = (part, text) =>
  part !== null && h("div", {}, h("p", {}, text), h("progress", { value: part, max: 1, "aria-label": text }));
