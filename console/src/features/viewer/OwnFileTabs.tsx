import { useCallback, useState } from "react";
import type { Schemas } from "../../api/client";
import { Failure } from "../../ui/Failure";
import { Skeleton } from "../../ui/Skeleton";
import { FileView } from "./FileView";
import type { PagedProps } from "./ImagesTab";
import { useOwnFiles, useReload, useRenewOwn } from "./queries";
import { identify, type Renew } from "./renewal";
import { SheetBar } from "./SheetBar";
import { readCells } from "./textReaders";
import { TextView } from "./TextView";
import type { TiffPage } from "./tiff/client";
import { useSheetSettings } from "./useSheetSettings";
import { buildPageKeys, useViewerKeys } from "./useViewerKeys";
import { chooseView, type ExhibitFile } from "./views";

interface OwnFileProps extends PagedProps {
  kind: "native" | "text";
  exhibit: Schemas["Exhibit"];
}

/** The native or the text of a document. */
export function OwnFile({ kind, exhibit, ...paged }: OwnFileProps) {
  const files = useOwnFiles(exhibit.id, exhibit.version);
  const renew = useRenewOwn(exhibit.id, kind);
  const reload = useReload(exhibit.id);
  if (files.isPending) return <Skeleton rows={4} />;
  if (files.isError) return <Failure error={files.error} again={() => void files.refetch()} />;
  const file = files.data[kind];
  if (!file) return <p className="notice">{NONE[kind]}</p>;
  if (kind === "text" && file.path === null)
    return <CellText key={identify(file)} exhibitId={exhibit.id} {...{ file, reload }} />;
  const view = chooseView(file);
  if (file.url && (view === "tiff" || view === "image"))
    return <Pictures {...paged} {...{ file, view, renew, reload }} />;
  return <Plain {...paged} {...{ file, renew, reload }} label={kind === "native" ? "The native" : "The text"} />;
}

const NONE = {
  native: "The document has no native: no load file names one. It may have images or a text.",
  text: "The document has no text: no load file names or has one. An overlay can add it.",
};

interface FileProps extends PagedProps {
  file: ExhibitFile;
  renew: Renew;
  reload: () => Promise<void>;
}

function Plain({ caseId, exhibitId, file, page, label, renew, reload }: FileProps & { label: string }) {
  const settings = useSheetSettings(`${exhibitId}`);
  return <FileView {...{ caseId, exhibitId, file, page, label, renew, reload, settings }} turn={0} />;
}

/** A native that is an image, with as many pages as its file has. */
function Pictures({ caseId, exhibitId, file, view, page, go, renew, reload }: FileProps & { view: "tiff" | "image" }) {
  const settings = useSheetSettings(`${exhibitId} ${page}`);
  const [shown, setShown] = useState<TiffPage | null>(null);
  const count = view === "image" ? 1 : (shown?.pages ?? null);
  const hasNext = shown !== null && shown.known > page;
  useViewerKeys(buildPageKeys(page, count, hasNext, go, settings));
  return (
    <div className="stage">
      <FileView
        {...{ caseId, exhibitId, file, page, renew, reload, settings }}
        bar={<SheetBar {...{ page, count, hasNext, settings, go }} known={shown?.known ?? null} />}
        label={view === "image" ? "The native" : `Page ${page.toLocaleString()} of the native`}
        turn={0}
        onShown={setShown}
      />
    </div>
  );
}

interface CellTextProps {
  exhibitId: number;
  file: ExhibitFile;
  reload: () => Promise<void>;
}

function CellText({ exhibitId, file, reload }: CellTextProps) {
  const open = useCallback(() => readCells(exhibitId, file.sha256), [exhibitId, file.sha256]);
  return (
    <div className="file-view">
      <p className="quiet">
        The load file has this text in its cells.
        {file.sha256 && (
          <>
            {" "}
            SHA-256 <code>{file.sha256}</code>
          </>
        )}
      </p>
      <TextView open={open} reload={reload} />
    </div>
  );
}
