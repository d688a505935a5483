// One request to the bucket. By XMLHttpRequest: fetch does not say how much of a body was sent.
import { UploadFault, type Answer } from "./faults";
import { readChunks } from "./pack";

// After so long without a byte moving, the connection is taken for lost; the storage puts an object of many parts
// together in minutes.
const STALL_MS = { PUT: 60_000, POST: 300_000 };

export type Send = (
  method: "PUT" | "POST",
  url: string,
  body: Blob,
  headers: Record<string, string>,
  onSent: (bytes: number) => void,
  signal: AbortSignal,
) => Promise<Answer>;

/**
 * Send the bytes with the signed headers. Resolves with any answer of the storage; rejects with UploadFault (`network`)
 * without one, with DOMException if the file cannot be read (NotReadableError) or the signal aborts (AbortError).
 */
export const send: Send = async (method, url, body, headers, onSent, signal) => {
  const answer = await request(method, url, body, headers, onSent, signal);
  if (answer) return answer;
  // A file that was changed looks like a lost connection: reading it tells them apart.
  if (navigator.onLine) for await (const _ of readChunks(body)) signal.throwIfAborted();
  throw new UploadFault("network", "NETWORK", "The storage does not answer.");
};

/** Resolves with null if there was no answer. */
function request(...[method, url, body, headers, onSent, signal]: Parameters<Send>): Promise<Answer | null> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const xhr = new XMLHttpRequest();
    const abort = () => xhr.abort();
    xhr.open(method, url);
    // The type is not signed. Another one than this may be stored empty by servers that parse forms.
    const type = method === "POST" ? "application/xml" : "application/octet-stream";
    for (const [name, value] of Object.entries({ "Content-Type": type, ...headers })) xhr.setRequestHeader(name, value);
    let stall = setTimeout(abort, STALL_MS[method]);
    xhr.upload.onprogress = (event) => {
      clearTimeout(stall);
      stall = setTimeout(abort, STALL_MS[method]);
      onSent(event.loaded);
    };
    xhr.onabort = () => (signal.aborted ? reject(makeAbort()) : resolve(null));
    xhr.onerror = xhr.ontimeout = () => resolve(null);
    xhr.onload = () => resolve({ status: xhr.status, etag: xhr.getResponseHeader("ETag"), text: xhr.responseText });
    xhr.onloadend = () => {
      clearTimeout(stall);
      signal.removeEventListener("abort", abort);
    };
    signal.addEventListener("abort", abort);
    xhr.send(body);
  });
}

const makeAbort = () => new DOMException("The upload was stopped.", "AbortError");
