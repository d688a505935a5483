import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { useCase } from "../../api/cases";
import { api, type Schemas } from "../../api/client";
import { useCanImport } from "../../api/me";
import { ConfirmDialog } from "../../ui/ConfirmDialog";
import { count } from "../../ui/values";
import { isDraft } from "./answer";
import { labelDraft, listOffers, type Change } from "./offers";
import { UndoDialog } from "./Undo";

type ImportState = Schemas["ImportState"];

const LABELS: Record<Change, string> = { cancel: "Cancel the import", retry: "Retry" };
const EXPLAINED: Record<Change, string> = {
  cancel: "Rows that are already imported stay in the case; an undo takes them out. A retry goes on where it stopped.",
  retry: "The import goes on where it stopped. What is in the case already is not imported a second time.",
};
/** What the states of the import and of its case allow, the next step first; changes are explained before they happen. */
export function Actions({ state }: { state: ImportState }) {
  const canImport = useCanImport();
  const [chosen, setChosen] = useState<Change | null>(null);
  const [isUndoing, setUndoing] = useState(false);
  const { hasNext, changes, canUndo, refusal } = listOffers(state, useCase(state.caseId).data);
  if (canImport === undefined) return null;
  if (!canImport) return <ForViewers state={state} />;
  return (
    <div className="bar">
      {hasNext && <NextStep state={state} />}
      {changes.map((each) => (
        <button key={each} type="button" onClick={() => setChosen(each)}>
          {LABELS[each]}
        </button>
      ))}
      {canUndo && (
        <button type="button" onClick={() => setUndoing(true)}>
          Undo…
        </button>
      )}
      {refusal && <span className="quiet">{refusal}</span>}
      {chosen && <ChangeDialog importId={state.id} change={chosen} onClose={() => setChosen(null)} />}
      {isUndoing && <UndoDialog importId={state.id} kind={state.kind} onClose={() => setUndoing(false)} />}
    </div>
  );
}

/** The one step that brings the file nearer to the case. */
function NextStep({ state }: { state: ImportState }) {
  if (state.openRejections > 0)
    return (
      <Link href={`/imports/${state.id}/fix`} className="button primary">
        Fix {count(state.openRejections, state.kind === "images" ? "document" : "row")}
      </Link>
    );
  const label = labelDraft(state);
  if (label !== null)
    return (
      <Link href={`/import/${state.id}`} className="button primary">
        {label}
      </Link>
    );
  return null;
}

function ForViewers({ state }: { state: ImportState }) {
  if (state.openRejections === 0 && !isDraft(state)) return null;
  return (
    <p className="quiet">
      You can look at this import. Changing it requires the role editor; an administrator grants it.
    </p>
  );
}

function ChangeDialog({ importId, change, onClose }: { importId: number; change: Change; onClose: () => void }) {
  const queries = useQueryClient();
  const send = (key: string) => {
    const params = { params: { path: { importId }, header: { "Idempotency-Key": key } } };
    return change === "cancel"
      ? api.POST("/imports/{importId}/cancel", params)
      : api.POST("/imports/{importId}/retry", params);
  };
  const onSettled = () => queries.invalidateQueries({ queryKey: ["progress", importId] });
  return (
    <ConfirmDialog label={LABELS[change]} send={send} onSettled={onSettled} onClose={onClose}>
      <p>{EXPLAINED[change]}</p>
    </ConfirmDialog>
  );
}
