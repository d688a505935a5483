import { FileFault } from "./faults";

const MOST_WITHOUT_RANGES = 64_000_000;

/** Get a range of a file by its signed URL. Throws FileFault; a fetch that was aborted throws what fetch does. */
export async function fetchBytes(
  url: string,
  start: number,
  length: number,
  signal?: AbortSignal,
): Promise<{ bytes: Uint8Array; size: number }> {
  const headers = { Range: `bytes=${start}-${start + length - 1}` };
  const response = await fetch(url, { headers, signal, credentials: "omit", referrerPolicy: "no-referrer" }).catch(
    (error: unknown) => {
      if (signal?.aborted) throw error;
      throw new FileFault("unanswered", "The storage does not answer.");
    },
  );
  if (response.status === 206) return readPart(response);
  // A file without bytes has no range.
  if (response.status === 416) return { bytes: new Uint8Array(), size: 0 };
  if (response.ok) return readWhole(response);
  void response.body?.cancel();
  if (response.status === 404) throw new FileFault("missing", "The storage has no file at this place.");
  if (response.status === 403) throw new FileFault("refused", "The storage has no such file, or does not give it.");
  throw new FileFault("unanswered", `The storage answers with ${response.status}.`);
}

async function readPart(response: Response): Promise<{ bytes: Uint8Array; size: number }> {
  const size = Number(/\/(\d+)$/.exec(response.headers.get("Content-Range") ?? "")?.[1]);
  return { bytes: await readBytes(response), size };
}

async function readWhole(response: Response): Promise<{ bytes: Uint8Array; size: number }> {
  if (Number(response.headers.get("Content-Length") ?? 0) > MOST_WITHOUT_RANGES) {
    void response.body?.cancel();
    throw new FileFault("too-large", "The storage sends it only as a whole, and it has more than 64 MB.");
  }
  const bytes = await readBytes(response);
  return { bytes, size: bytes.length };
}

async function readBytes(response: Response): Promise<Uint8Array> {
  try {
    return new Uint8Array(await response.arrayBuffer());
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new FileFault("unanswered", "The connection to the storage was lost.");
  }
}
