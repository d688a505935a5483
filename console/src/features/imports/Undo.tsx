import { useEffect, useState } from "react";
import { Link } from "wouter";
import { ApiError, type Schemas } from "../../api/client";
import { Dialog } from "../../ui/Dialog";
import { Failure } from "../../ui/Failure";
import { announce } from "../../ui/LiveRegion";
import { UndoResult } from "./UndoResult";
import { findNamedImport, isAnswer, labelUndo } from "./undo";
import { useRequestUndo, useUndo } from "./undoQueries";

interface UndoProps {
  importId: number;
  kind: Schemas["ImportState"]["kind"];
  onClose: () => void;
}

/** What an undo would do, found out by a dry run, and the button that does it. */
export function UndoDialog({ importId, kind, onClose }: UndoProps) {
  const [key] = useState(() => crypto.randomUUID());
  const dryRun = useRequestUndo(importId);
  const { mutate } = dryRun;
  useEffect(() => mutate({ dryRun: true, key }), [mutate, key]);
  const last = useUndo(importId, dryRun.isSuccess);
  const found = [dryRun.data, last.data].find((each) => each && isAnswer(each, dryRun.data));
  useEffect(() => {
    if (found) announce("The dry run has ended. Its result is in the dialog.");
  }, [found?.undoNo]);
  return (
    <Dialog title={`Undo import ${importId}?`} open onClose={onClose}>
      {(dryRun.isError || last.isError) && <Refusal error={dryRun.error ?? last.error} />}
      {!found && !dryRun.isError && !last.isError && <p role="status">Finding out what the undo would do…</p>}
      {found && <Offer {...{ importId, kind, found, onClose }} />}
      <div className="bar">
        <button type="button" onClick={onClose}>
          Leave everything as it is
        </button>
      </div>
    </Dialog>
  );
}

function Offer({ importId, kind, found, onClose }: UndoProps & { found: Schemas["Undo"] }) {
  const [key] = useState(() => crypto.randomUUID());
  const undo = useRequestUndo(importId);
  if (found.status === "nothing_to_undo") return <p>There is nothing to undo: the import has written nothing.</p>;
  if (found.status === "superseded" || !found.dryRun) return <p>The undo was requested in another window meanwhile.</p>;
  return (
    <>
      <p>Nothing is changed yet.</p>
      <UndoResult undo={found} kind={kind} />
      {undo.isError && <Refusal error={undo.error} />}
      <div className="bar">
        <button
          type="button"
          className="primary"
          disabled={undo.isPending}
          onClick={() => undo.mutate({ dryRun: false, key }, { onSuccess: onClose })}
        >
          {labelUndo(found, kind)}
        </button>
      </div>
    </>
  );
}

/** Why an undo is refused, with the import that has to be waited for or undone first. */
function Refusal({ error }: { error: unknown }) {
  const named = error instanceof ApiError && error.code === "wrong-state" ? findNamedImport(error.message) : null;
  return (
    <>
      <Failure error={error} />
      {named !== null && (
        <p>
          <Link href={`/imports/${named}`}>Go to import {named}</Link>
        </p>
      )}
    </>
  );
}
