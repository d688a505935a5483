import type { Schemas } from "../../api/client";
import { Failure } from "../../ui/Failure";
import { Time } from "../../ui/values";
import { count } from "../../ui/values";
import { isUndone } from "./answer";
import { hasEnded } from "./undo";
import { useUndoOf } from "./undoQueries";
import { UndoResult } from "./UndoResult";

/** The progress of an undo, then its result. */
export function UndoState({ state }: { state: Schemas["ImportState"] }) {
  const last = useUndoOf(state);
  if (!isUndone(state)) return null;
  const undo = last.data && !last.data.dryRun ? last.data : null;
  return (
    <section aria-labelledby="undo">
      <h2 id="undo">Undo</h2>
      {last.isError && <Failure error={last.error} again={() => void last.refetch()} />}
      {undo && !hasEnded(undo) && <Progress undo={undo} />}
      {undo && hasEnded(undo) && (
        <>
          <UndoResult undo={undo} kind={state.kind} />
          <p className="quiet">
            Undo {undo.undoNo} · <Time value={undo.finishedAt} />
          </p>
        </>
      )}
      {undo?.report && undo.kept > 0 && (
        <p>
          <a href={undo.report} rel="noreferrer">
            Download what stayed, and why
          </a>
        </p>
      )}
    </section>
  );
}

function Progress({ undo }: { undo: Schemas["Undo"] }) {
  if (undo.parts === 0) return <p>The undo begins soon.</p>;
  const done = undo.parts - undo.partsLeft;
  return (
    <p>
      <progress max={undo.parts} value={done} aria-label="Parts that are undone" />{" "}
      {`${done.toLocaleString()} of ${count(undo.parts, "part")} undone`}
    </p>
  );
}
