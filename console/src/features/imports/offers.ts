// What can be done with an import: what its own state allows, and the state of its case does not refuse.
import { explainRefusal, type Case } from "../../api/cases";
import type { Schemas } from "../../api/client";
import { isDraft } from "./answer";

type State = Schemas["ImportState"];

export type Change = "cancel" | "retry";

interface Offers {
  hasNext: boolean;
  changes: Change[];
  canUndo: boolean;
  /** Why something that the import allows is not offered. */
  refusal: string | null;
}

// After these there can be something to undo; the dry run finds out whether there is.
const UNDOABLE: readonly string[] = [
  ...["completed", "completed_with_rejections", "failed", "cancelled", "undone_with_conflicts", "undo_failed"],
];
const OPEN = { status: "open", hold: null } as const;

/** What goes on with a file that is not imported yet, or not read; null if nothing does. */
export function labelDraft(state: State): string | null {
  if (state.status === "awaiting_upload") return "Continue the upload";
  if (isDraft(state)) return "Go on to the import";
  return state.status === "failed" && state.actions.includes("options") ? "Change how the file is read" : null;
}

/** Until the case is known, what the import allows is offered: the server decides. */
export function listOffers(state: State, of: Pick<Case, "status" | "hold"> = OPEN): Offers {
  const [change, remove] = [explainRefusal(of, "change"), explainRefusal(of, "remove")];
  const end = explainRefusal(of, "end");
  const hasStep = state.openRejections > 0 || labelDraft(state) !== null;
  const wanted = (["cancel", "retry"] as const).filter((each) => state.actions.includes(each));
  const changes = wanted.filter((each) => !(each === "cancel" ? end : change));
  const isUndoable = state.phase === "import" && state.rowsSeen > 0 && UNDOABLE.includes(state.status);
  const isLess = (hasStep && change) || changes.length < wanted.length || (isUndoable && remove);
  return {
    hasNext: !change,
    changes,
    canUndo: isUndoable && !remove,
    refusal: isLess ? (change ?? remove) : null,
  };
}
