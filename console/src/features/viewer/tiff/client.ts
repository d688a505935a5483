import { FileFault } from "./faults";
import type { DecodedPage, FromWorker, ToWorker } from "./protocol";
import workerUrl from "./worker?worker&url";

export type TiffPage = DecodedPage<ImageBitmap>;

export interface TiffRequest {
  file: string;
  url: string;
  page: number;
}

interface Pending {
  resolve: (page: TiffPage) => void;
  reject: (error: unknown) => void;
  onBytes: (bytes: number) => void;
}

interface TrustedTypes {
  createPolicy: (
    name: string,
    rules: { createScriptURL: () => string },
  ) => { createScriptURL: (url: string) => string };
}

// The policy of the page lets one script be made from a text, and this gives the same one whatever it is given.
const trusted = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy("tiff-worker", {
  createScriptURL: () => workerUrl,
});

let worker: Worker | null = null;
let last = 0;
const pending = new Map<number, Pending>();

function start(): Worker {
  const made = new Worker(trusted?.createScriptURL("") ?? workerUrl, { type: "module" });
  made.addEventListener("message", ({ data }: MessageEvent<FromWorker>) => take(data));
  // Its script is missing, or it ran out of memory.
  made.addEventListener("error", (event) => {
    event.preventDefault();
    stop(new FileFault("unanswered", "The image decoder of the console has stopped."));
  });
  return made;
}

function take(message: FromWorker): void {
  const waiting = pending.get(message.id);
  if (message.kind === "progress") return waiting?.onBytes(message.bytes);
  pending.delete(message.id);
  if (message.kind === "fault") return waiting?.reject(new FileFault(message.code, message.detail));
  if (waiting) waiting.resolve(message);
  else message.image.close();
}

function stop(reason: unknown): void {
  worker?.terminate();
  worker = null;
  for (const { reject } of pending.values()) reject(reason);
  pending.clear();
}

/** Have a page decoded in the worker. Rejects with FileFault, or with the reason of the signal. */
export function decodeTiff(
  request: TiffRequest,
  signal: AbortSignal,
  onBytes: (bytes: number) => void,
): Promise<TiffPage> {
  const id = (last += 1);
  const send = (message: ToWorker) => (worker ??= start()).postMessage(message);
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    pending.set(id, { resolve, reject, onBytes });
    signal.addEventListener("abort", () => {
      if (!pending.delete(id)) return;
      send({ kind: "cancel", id });
      reject(signal.reason);
    });
    send({ kind: "page", id, ...request });
  });
}

/** End the worker, which frees what it has read; the next page starts another. */
export const endTiffWorker = () => stop(new DOMException("The viewer was left.", "AbortError"));
