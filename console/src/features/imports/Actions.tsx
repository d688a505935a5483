import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { api, type Schemas } from "../../api/client";
import { useCanImport } from "../../api/me";
import { Dialog } from "../../ui/Dialog";
import { Failure } from "../../ui/Failure";
import { count } from "../../ui/values";
import { isDraft } from "./answer";
import { UndoDialog } from "./Undo";

type ImportState = Schemas["ImportState"];
type Change = "cancel" | "retry";

/** What the user has chosen, with the key under which all attempts of it take effect once. */
interface Chosen {
  change: Change;
  key: string;
}

const LABELS: Record<Change, string> = { cancel: "Cancel the import", retry: "Retry" };
const EXPLAINED: Record<Change, string> = {
  cancel: "Rows that are already imported stay in the case; an undo takes them out. A retry goes on where it stopped.",
  retry: "The import goes on where it stopped. What is in the case already is not imported a second time.",
};
// After these there can be something to undo; the dry run finds out whether there is.
const UNDOABLE: readonly string[] = [
  ...["completed", "completed_with_rejections", "failed", "cancelled", "undone_with_conflicts", "undo_failed"],
];

/** What the state of the import allows, the next step first; changes are explained before they happen. */
export function Actions({ state }: { state: ImportState }) {
  const canImport = useCanImport();
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const [isUndoing, setUndoing] = useState(false);
  const changes = (["cancel", "retry"] as const).filter((each) => state.actions.includes(each));
  const canUndo = state.phase === "import" && state.rowsSeen > 0 && UNDOABLE.includes(state.status);
  if (canImport === undefined) return null;
  if (!canImport) return <ForViewers state={state} />;
  return (
    <div className="bar">
      <NextStep state={state} />
      {changes.map((each) => (
        <button key={each} type="button" onClick={() => setChosen({ change: each, key: crypto.randomUUID() })}>
          {LABELS[each]}
        </button>
      ))}
      {canUndo && (
        <button type="button" onClick={() => setUndoing(true)}>
          Undo…
        </button>
      )}
      {chosen && <ChangeDialog importId={state.id} chosen={chosen} onClose={() => setChosen(null)} />}
      {isUndoing && <UndoDialog importId={state.id} onClose={() => setUndoing(false)} />}
    </div>
  );
}

/** The one step that brings the file nearer to the case. */
function NextStep({ state }: { state: ImportState }) {
  if (state.openRejections > 0)
    return (
      <Link href={`/imports/${state.id}/fix`} className="button primary">
        Fix {count(state.openRejections, "row")}
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

function labelDraft(state: ImportState): string | null {
  if (state.status === "awaiting_upload") return "Continue the upload";
  if (isDraft(state)) return "Go on to the import";
  return state.status === "failed" && state.actions.includes("options") ? "Change how the file is read" : null;
}

function ForViewers({ state }: { state: ImportState }) {
  if (state.openRejections === 0 && !isDraft(state)) return null;
  return (
    <p className="quiet">You can look at this import. Changing it takes the role editor; an administrator grants it.</p>
  );
}

function ChangeDialog({ importId, chosen, onClose }: { importId: number; chosen: Chosen; onClose: () => void }) {
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: async ({ change: wish, key }: Chosen) => {
      const params = { params: { path: { importId }, header: { "Idempotency-Key": key } } };
      if (wish === "cancel") await api.POST("/imports/{importId}/cancel", params);
      else await api.POST("/imports/{importId}/retry", params);
    },
    onSuccess: onClose,
    onSettled: () => queries.invalidateQueries({ queryKey: ["progress", importId] }),
  });
  return (
    <Dialog title={`${LABELS[chosen.change]}?`} open onClose={onClose}>
      <p>{EXPLAINED[chosen.change]}</p>
      {change.isError && <Failure error={change.error} />}
      <div className="bar">
        <button type="button" className="primary" disabled={change.isPending} onClick={() => change.mutate(chosen)}>
          {LABELS[chosen.change]}
        </button>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
