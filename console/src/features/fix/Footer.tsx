import { useState } from "react";
import { Dialog } from "../../ui/Dialog";
import { Failure } from "../../ui/Failure";
import { count } from "../../ui/values";
import type { Change, Verdict } from "./draft";

interface Props {
  changes: Record<Verdict, Change[]>;
  /** The corrected rows that one request takes. */
  batch: number;
  out: number;
  refused: number;
  elsewhere: number;
  canLoad: boolean;
  isSending: boolean;
  error: unknown;
  canUndo: boolean;
  onLoad: () => void;
  onLeaveOut: () => void;
  onUndo: () => void;
  onAgain?: () => void;
}

/** What happens to the rows, in numbers, and what is left to do before. */
export function Footer(props: Props) {
  const { changes, batch, out, isSending } = props;
  const [isAsking, setAsking] = useState(false);
  const ready = changes.ready.length;
  const label = nameLoad(ready, batch);
  return (
    <footer className="actions">
      {props.error != null && <Failure error={props.error} again={props.onAgain} isByHand />}
      <div className="bar">
        {props.canLoad && (
          <button
            id="import-corrected"
            type="button"
            className="primary"
            disabled={ready === 0 || isSending}
            onClick={props.onLoad}
          >
            {isSending ? "Sending…" : label}
          </button>
        )}
        <button type="button" disabled={out === 0 || isSending} onClick={() => setAsking(true)}>
          {out === 0 ? "Leave rows out" : `Leave ${count(out, "row")} out`}
        </button>
        <button type="button" disabled={!props.canUndo || isSending} onClick={props.onUndo}>
          Undo <kbd>Ctrl+Z</kbd>
        </button>
        <span className="quiet">{describe(props)}</span>
      </div>
      {isAsking && (
        <Dialog title={`Leave ${count(out, "row")} out for good?`} open onClose={() => setAsking(false)}>
          <p>
            {out === 1
              ? "It is never imported and no longer counts as open. The reports of the import keep it, "
              : "They are never imported and no longer count as open. The reports of the import keep them, "}
            with your name. This cannot be undone.
          </p>
          <div className="bar">
            <button
              type="button"
              className="primary"
              onClick={() => {
                setAsking(false);
                props.onLeaveOut();
              }}
            >
              Leave {count(out, "row")} out
            </button>
            <button type="button" onClick={() => setAsking(false)}>
              Keep {out === 1 ? "it" : "them"} open
            </button>
          </div>
        </Dialog>
      )}
    </footer>
  );
}

function nameLoad(ready: number, batch: number): string {
  if (ready === 0) return "Import corrected rows";
  return batch < ready
    ? `Import the first ${batch} of ${count(ready, "corrected row")}`
    : `Import ${count(ready, "corrected row")}`;
}

function describe({ changes, refused, elsewhere, out, canLoad }: Props): string {
  const parts = [
    changes.misfit.length > 0 && `${count(changes.misfit.length, "row")} with cells that do not fit the header`,
    changes.unfinished.length > 0 && `${count(changes.unfinished.length, "row")} with a fault left`,
    refused > 0 && `${count(refused, "row")} refused`,
    elsewhere > 0 && `${elsewhere.toLocaleString()} of your changes are on other pages`,
  ].filter(Boolean);
  if (parts.length) return `Not sent: ${parts.join("; ")}.`;
  if (changes.ready.length || out) return "What you do not touch stays open. The file itself is never changed.";
  return canLoad
    ? "Correct a cell, or tick “leave out”."
    : "Tick “leave out” at lines that nothing has to be done about.";
}
