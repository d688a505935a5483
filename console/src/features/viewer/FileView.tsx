import { useCallback, useState, type ReactNode } from "react";
import { Link } from "wouter";
import { FileLine } from "./FileLine";
import { Fault } from "./Fault";
import { ImageView } from "./ImageView";
import { PdfView } from "./PdfView";
import { useHead } from "./queries";
import { identify, type Renew } from "./renewal";
import { readFile } from "./textReaders";
import { TextView } from "./TextView";
import { FileFault } from "./tiff/faults";
import type { TiffPage } from "./tiff/client";
import { TiffView } from "./TiffView";
import type { SheetSettings } from "./useSheetSettings";
import { chooseView, findMismatch, type ExhibitFile } from "./views";

export interface FileViewProps {
  caseId: number;
  exhibitId: number;
  file: ExhibitFile;
  /** The page within the file, from 1. */
  page: number;
  /** What is shown, in words: for a screen reader, and while it is loaded. */
  label: string;
  turn: number;
  settings: SheetSettings;
  renew: Renew;
  /** Have the file read as it is now. */
  reload: () => Promise<void>;
  onShown?: (page: TiffPage) => void;
  /** What chooses the page and its size, beside what the file is. */
  bar?: ReactNode;
}

/** A file: what it is, its download, and what can be shown of it. */
export function FileView(props: FileViewProps) {
  const { exhibitId, file } = props;
  const view = chooseView(file);
  return (
    <div className="file-view">
      <div className="bar">
        {props.bar}
        <FileLine
          key={identify(file)}
          exhibitId={exhibitId}
          file={file}
          type={view === "download" ? undefined : TYPES[view]}
        />
      </div>
      {file.state === "missing" ? (
        <Missing {...props} />
      ) : file.url === null ? (
        <Outside {...props} />
      ) : (
        <Shown {...props} />
      )}
    </div>
  );
}

const TYPES = { tiff: "TIFF", image: "image", pdf: "PDF", text: "text" } as const;

function Shown(props: FileViewProps) {
  const { file, page, label, turn, settings, renew, reload, onShown } = props;
  const view = chooseView(file);
  if (file.size === 0) return <p className="notice">The file is empty: it has 0 bytes.</p>;
  if (view === "tiff") return <TiffView {...{ file, page, label, turn, settings, renew, reload, onShown }} />;
  if (view === "text") return <TextFile key={identify(file)} {...{ file, renew, reload }} />;
  if (view === "download")
    return (
      <p className="notice">
        Files of this type are not shown here, because they can run or load something. Download the file to open it with
        a program that you trust with it.
      </p>
    );
  return <Checked {...props} />;
}

/** A PDF or an image whose first bytes say so, too. */
function Checked({ file, page, label, turn, settings, reload }: FileViewProps) {
  const head = useHead(file);
  if (head.isPending)
    return (
      <p role="status" className="waiting">
        Loading {label}
      </p>
    );
  if (head.isError) {
    const fault = head.error instanceof FileFault ? head.error : new FileFault("unanswered", "It could not be read.");
    const again = () => void reload().then(() => head.refetch());
    return <Fault fault={fault} again={again} />;
  }
  const mismatch = findMismatch(chooseView(file), head.data, head.data.size === 0);
  if (mismatch !== null)
    return (
      <div className="notice" role="alert">
        <p>{mismatch}</p>
      </div>
    );
  const url = file.url!;
  if (chooseView(file) === "pdf") return <PdfView url={url} page={page} />;
  return <ImageView key={url} {...{ url, label, turn, settings }} size={head.data} />;
}

function TextFile({ file, renew, reload }: { file: ExhibitFile; renew: Renew; reload: FileViewProps["reload"] }) {
  const [encoding, setEncoding] = useState<string | null>(null);
  // A new URL is of the same text: another file has another key.
  const [first] = useState(file);
  const open = useCallback(() => readFile(first, encoding, renew), [first, encoding, renew]);
  return <TextView open={open} onEncoding={setEncoding} reload={reload} />;
}

function Missing({ caseId, file }: FileViewProps) {
  return (
    <div className="notice bad" role="alert">
      <strong>The file is missing</strong>
      <p>
        A load file names this path, and volume {file.volumeId} does not have the file, or was deleted. Ask the sender
        of the volume for it, then import it with a load file that names it.{" "}
        <Link href={`/cases/${caseId}/imports`}>See the imports of this case</Link>
      </p>
    </div>
  );
}

function Outside({ caseId }: FileViewProps) {
  return (
    <div className="notice bad" role="alert">
      <strong>The path leads out of the case</strong>
      <p>
        A load file names this path, which is not one of the case’s own files. Correct the path in the load file, and
        overlay it. <Link href={`/cases/${caseId}/imports`}>See the imports of this case</Link>
      </p>
    </div>
  );
}
