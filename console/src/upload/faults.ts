// Why a request of an upload failed, and with that, what follows: `network` waits for the connection, `signed-out` for
// the session, `busy` is tried again some times, `expired` gets new URLs, `stale` reads the state again, and `final`
// needs a person.
import { ApiError } from "../api/client";

export type FaultKind = "network" | "signed-out" | "busy" | "expired" | "stale" | "final";

export class UploadFault extends Error {
  constructor(
    readonly kind: FaultKind,
    readonly code: string,
    message: string,
    readonly advice = "",
  ) {
    super(message);
  }
}

export class FileChangedFault extends UploadFault {
  constructor(path: string) {
    super(
      "final",
      "FILE_CHANGED",
      `${path} was changed, moved or removed after it was chosen.`,
      "Choose the files again, so that what is sent is what you have.",
    );
  }
}

export interface Answer {
  status: number;
  etag: string | null;
  text: string;
}

const AGAIN = "Send it again. If it fails again, give the code to your administrator.";
const ANNOUNCE = "Start a new import with this file.";
const EXPIRED = new Set(["AccessDenied", "ExpiredToken", ""]);
const STALE = new Set(["NoSuchUpload", "InvalidPart", "InvalidPartOrder", "PreconditionFailed"]);
const BUSY = new Set([
  "ConditionalRequestConflict",
  "RequestTimeout",
  "SlowDown",
  "InternalError",
  "ServiceUnavailable",
]);
const CHANGED = new Set(["BadDigest", "XAmzContentChecksumMismatch", "IncompleteBody"]);

/** Return the fault that an answer of S3 means; null for success. An answer 200 can have an error in its body. */
export function findFault(answer: Answer, path: string): UploadFault | null {
  const code = /<Code>([^<]*)<\/Code>/.exec(answer.text)?.[1] ?? "";
  if (answer.status < 300 && !code) return null;
  if (STALE.has(code) || answer.status === 412) return new UploadFault("stale", code, describe(answer, code), AGAIN);
  if (CHANGED.has(code)) return new FileChangedFault(path);
  if (answer.status === 403 && code === "SignatureDoesNotMatch") return makeSignatureFault(path);
  if (code === "ExpiredToken" || (answer.status === 403 && EXPIRED.has(code)))
    return new UploadFault("expired", code || "AccessDenied", "The storage refused the address of the upload.", AGAIN);
  if (BUSY.has(code) || answer.status < 300 || answer.status === 429 || answer.status >= 500)
    return new UploadFault("busy", code || String(answer.status), describe(answer, code), AGAIN);
  return new UploadFault("final", code || String(answer.status), describe(answer, code), AGAIN);
}

/** Return what an exception means; one that is not of an upload is final. */
export function toFault(error: unknown, path: string): UploadFault {
  if (error instanceof UploadFault) return error;
  if (error instanceof ApiError) return fromApi(error);
  if (error instanceof TypeError) return new UploadFault("network", "NETWORK", "The server does not answer.");
  if (error instanceof DOMException && (error.name === "NotReadableError" || error.name === "NotFoundError"))
    return new FileChangedFault(path);
  const message = error instanceof Error ? error.message : String(error);
  return new UploadFault("final", "UNEXPECTED", message, AGAIN);
}

const REFUSED: Record<string, string> = {
  "role-required": "Ask your administrator for the role editor.",
  forbidden: "Sign in again, or ask your administrator.",
  "already-exists": "A file was changed since it was sent. Create another volume and send all files again.",
  "wrong-state": "Start a new import, or create another volume.",
  "not-found": "Check that you are signed in with the right user, or start again.",
};

function fromApi(error: ApiError): UploadFault {
  const code = error.code || String(error.status);
  if (error.status === 401) return new UploadFault("signed-out", code, "The session has ended.");
  const isBusy = error.status === 429 || error.status >= 500 || code === "in-progress" || code === "conflict";
  return new UploadFault(isBusy ? "busy" : "final", code, error.message, REFUSED[error.code] ?? AGAIN);
}

const makeSignatureFault = (path: string) =>
  new UploadFault(
    "final",
    "SignatureDoesNotMatch",
    `The storage refused ${path}: it does not have the size that was announced.`,
    `Choose the file again. ${ANNOUNCE}`,
  );

export const makeGoneFault = () =>
  new UploadFault("final", "UPLOAD_EXPIRED", "The storage has deleted the parts, after seven days.", ANNOUNCE);

export const makeOtherFault = (path: string) =>
  new UploadFault(
    "final",
    "OTHER_BYTES",
    `${path || "The folder"} was sent before with other bytes: it has been changed since.`,
    ANNOUNCE,
  );

export const makeSizeFault = (path: string, size: number, announced: number) =>
  new UploadFault(
    "final",
    "SIZE_DIFFERS",
    `${path} has ${size.toLocaleString()} bytes; the upload that was begun has ${announced.toLocaleString()}.`,
    "Choose the same files as before, or start a new import.",
  );

const describe = (answer: Answer, code: string) => `The storage answered ${answer.status} ${code}.`.replace(" .", ".");
