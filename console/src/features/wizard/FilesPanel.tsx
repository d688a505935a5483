import { useState } from "react";
import { collectInput, getTransfer, type Picked, type Thing, type TransferStatus } from "../../upload";
import { FileButtons } from "../../ui/DropTarget";
import { Failure } from "../../ui/Failure";
import { Untrusted } from "../../ui/Untrusted";
import { formatBytes } from "../../ui/values";
import type { Kept } from "./kept";
import { Panel } from "./Panel";
import type { Draft } from "./queries";
import { LeftOut, Things } from "./Things";
import { TransferDetails, TransferLine, useTransfer } from "./TransferLine";
import { describeThing } from "./words";

interface FilesPanelProps {
  draft: Draft | null;
  place: string;
  kept: Kept;
  mismatch: string | null;
  /** Whether the files are being announced: what is chosen then stays. */
  isBeginning: boolean;
  seal: { apply: () => void; isPending: boolean };
  onPicked: (picked: Picked) => void;
  onThing: (thing: Thing | null) => void;
}

/** What was chosen, and how far it has arrived. */
export function FilesPanel({ draft, place, kept, mismatch, seal, isBeginning, onPicked, onThing }: FilesPanelProps) {
  const [fault, setFault] = useState<unknown>(null);
  const pick = (files: File[]) => {
    setFault(null);
    collectInput(files).then(onPicked, setFault);
  };
  const transfer = getTransfer(place);
  const isAwaited = draft !== null && takesFiles(draft, useTransfer(transfer)?.status);
  const isEmpty = !draft && !kept.thing;
  return (
    <Panel
      number={1}
      title="Files"
      isOpen={isEmpty || isAwaited || Boolean(transfer) || Boolean(kept.picked)}
      line={
        <>
          <Chosen draft={draft} thing={kept.thing} />
          {transfer && <TransferLine transfer={transfer} />}
        </>
      }
    >
      {isEmpty && !kept.picked && <Choose onFiles={pick} />}
      {isEmpty && kept.picked && <Things picked={kept.picked} onThing={onThing} onFiles={pick} />}
      {isAwaited && <ChooseAgain draft={draft} isFailed={transfer !== undefined} onFiles={pick} seal={seal} />}
      {mismatch && (
        <p className="notice bad" role="alert">
          {mismatch}
        </p>
      )}
      {!draft && kept.thing && !isBeginning && (
        <button type="button" onClick={() => onThing(null)}>
          Choose other files
        </button>
      )}
      {kept.picked && <LeftOut picked={kept.picked} />}
      {transfer && <TransferDetails transfer={transfer} thing={kept.thing} />}
      {fault !== null && <Failure error={fault} />}
    </Panel>
  );
}

/** Whether files can be chosen for the draft: the server awaits them, and no upload of this window goes on. */
export function takesFiles(draft: Draft, upload: TransferStatus | undefined): boolean {
  if (upload !== undefined && upload !== "failed") return false;
  if (draft.volume) return draft.volume.status === "open" || draft.volume.failureCode === "FILES_MISSING";
  return draft.rows?.status === "awaiting_upload";
}

function Chosen({ draft, thing }: { draft: Draft | null; thing: Thing | null }) {
  if (thing)
    return (
      <span>
        <Untrusted text={thing.name} /> · {describeThing(thing)}
      </span>
    );
  if (!draft) return <span className="quiet">nothing chosen yet</span>;
  const size = draft.volume?.bytes ?? draft.rows?.size ?? 0;
  return (
    <span>
      <Untrusted text={draft.name} />
      {size > 0 && ` · ${formatBytes(size)}`}
    </span>
  );
}

function Choose({ onFiles }: { onFiles: (files: File[]) => void }) {
  return (
    <div className="drop">
      <p>
        <strong>Drop a folder, a zip or a load file anywhere on this page.</strong>
      </p>
      <p className="quiet">
        A production as it arrived: a folder or zip with its DAT or CSV, and the natives, texts and images that it
        names. Or a load file alone.
      </p>
      <FileButtons onFiles={onFiles} isPrimary />
    </div>
  );
}

interface ChooseAgainProps {
  draft: Draft;
  /** Whether an upload of this window has failed, such as of a file that was changed. */
  isFailed: boolean;
  onFiles: (files: File[]) => void;
}

/** After a reload the browser has no access to the files any more; what has arrived is not sent again. */
function ChooseAgain({ draft, isFailed, onFiles, seal }: Pick<FilesPanelProps, "seal"> & ChooseAgainProps) {
  return (
    <div className="drop">
      <p>
        <strong>
          Choose <Untrusted text={draft.name} /> again to go on.
        </strong>
      </p>
      <p className="quiet">
        {!isFailed && "This window has no access to the files any more. "}Only what has not arrived yet is sent.
      </p>
      <FileButtons onFiles={onFiles} isPrimary />
      {!isFailed && draft.volume?.status === "open" && (
        <>
          <button type="button" disabled={seal.isPending} onClick={seal.apply}>
            Everything had arrived: go on
          </button>
          {draft.volume.kind === "files" && (
            <p className="quiet">
              The files of a folder are announced little by little. The server cannot miss one that was not announced
              yet: if you are not sure, choose the folder again.
            </p>
          )}
        </>
      )}
    </div>
  );
}
