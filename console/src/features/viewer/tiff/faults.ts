// Why a file cannot be shown. The page says it in words, and offers the download beside it.

export type FaultCode =
  /** The file contradicts itself, or ends too early. */
  | "broken"
  /** A kind of TIFF that is not decoded here. */
  | "unknown-kind"
  /** More pixels or bytes than a page may have. */
  | "too-large"
  /** The file has fewer pages. */
  | "no-such-page"
  /** The storage refuses the URL, which is too old. */
  | "refused"
  /** The storage has no such file. */
  | "missing"
  /** No answer, or not all of it. */
  | "unanswered"
  /** The document has another file in its place now. */
  | "changed";

export class FileFault extends Error {
  constructor(
    readonly code: FaultCode,
    /** What was found, in words; never content of the file. */
    detail: string,
  ) {
    super(detail);
  }
}

export const broken = (detail: string) => new FileFault("broken", detail);
