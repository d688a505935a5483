import type { FaultCode, FileFault } from "./tiff/faults";

const TITLES: Record<FaultCode, string> = {
  broken: "The file is damaged",
  "unknown-kind": "This kind of TIFF is not shown here",
  "too-large": "The page is too large to show",
  "no-such-page": "The file does not have this page",
  refused: "The file is not there, or may not be read",
  missing: "The file is not there",
  unanswered: "The storage does not answer",
  changed: "The file was changed",
};
const ADVICE: Record<FaultCode, string> = {
  broken:
    "The page is not shown, because it could be wrong. Download it to look at it with another program; if that fails too, ask the sender of the volume for a copy.",
  "unknown-kind": "Download it to open it with another program.",
  "too-large": "Download it to open it with another program.",
  "no-such-page":
    "The image load file names a page that the file lacks. Ask the sender of the volume for the whole file, or import a corrected image load file.",
  refused:
    "A load file names the path, and the storage does not return a file for it. Upload the file with the volume that names it, or ask the sender of the volume.",
  missing:
    "A load file names the path, and the storage has no file for it. Upload the file with the volume that names it, or ask the sender of the volume.",
  unanswered: "Check the connection, then try again.",
  changed: "Nothing of the new file is shown under the name of the old one.",
};

/** What can be otherwise the next time. */
const PASSING: ReadonlySet<FaultCode> = new Set(["refused", "missing", "unanswered"]);

interface FaultProps {
  fault: FileFault;
  again?: () => void;
  /** Have the file read as it is now. */
  reload?: () => Promise<void>;
}

/** Why a file is not shown, and who can do what about it. Its download is in the line above. */
export function Fault({ fault, again, reload }: FaultProps) {
  return (
    <div className="notice bad" role="alert">
      <strong>{TITLES[fault.code]}</strong>
      <p>{fault.message}</p>
      <p>{ADVICE[fault.code]}</p>
      {reload && fault.code === "changed" && (
        <button type="button" onClick={() => void reload().then(again)}>
          Show the file as it is now
        </button>
      )}
      {again && PASSING.has(fault.code) && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}
