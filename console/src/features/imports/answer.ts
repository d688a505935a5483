import type { Schemas } from "../../api/client";
import { isRunning } from "../../ui/Status";
import { count } from "../../ui/values";

type ImportState = Schemas["ImportState"];

const UNDONE: readonly string[] = ["undoing", "undone", "undone_with_conflicts", "undo_failed"];

/** Whether rows of the import may be in the case now: not of a check, and not of one that was undone as a whole. */
export const isWritten = (state: ImportState) => state.phase === "import" && state.status !== "undone";

export const isUndone = (state: ImportState) => UNDONE.includes(state.status);

/** Whether an import waits for its file, or for a user who has it run: the page of a new import goes on with it. */
export const isDraft = (state: ImportState) => ["awaiting_upload", "uploaded", "checked"].includes(state.status);

/** How many of the rejected rows are still open; of a check, and of corrections that are rejected again, all of them. */
export const countOpen = (state: ImportState) =>
  state.phase === "check" || state.corrects !== null ? state.rejected : state.openRejections;

/** Whether everything of the file is in the case, and if not, what is missing, in one sentence. */
export function answer(state: ImportState): string {
  const unit = state.kind === "images" ? "document of the image load file" : "row of the file";
  if (state.status === "checked") return answerCheck(state, unit);
  if (state.status === "completed") return `Every ${unit} is in the case.`;
  if (state.status === "completed_with_rejections") return answerRejections(state, unit);
  if (state.status === "cancelled") return "The import was cancelled; the rows that it had imported are in the case.";
  if (state.status === "undoing") return "The import is being undone. You can leave this page.";
  if (state.status === "undone") return "The import was undone: nothing of it is left in the case.";
  if (state.status === "undone_with_conflicts") return "The import was undone, but something of it stays in the case.";
  if (state.status === "undo_failed") return "The undo has failed in part: some of the import is still in the case.";
  if (state.status === "failed")
    return state.rowsSeen === 0
      ? "The file could not be read. Nothing of it is in the case."
      : "The import has failed; the rows that it had imported are in the case.";
  if (isRunning(state.status)) return "The import is running. You can leave this page.";
  if (state.status === "awaiting_upload") return "The file has not arrived yet.";
  if (state.status === "uploaded") return "The file has arrived and is held: nothing is imported until it is run.";
  if (state.status === "blocked") return "The import waits for another one, which has failed or was cancelled.";
  return "";
}

function answerRejections(state: ImportState, unit: string): string {
  if (state.corrects !== null)
    return `${countPast(state.rejected, "corrected row")} rejected again; they are open in import ${state.corrects}.`;
  if (state.openRejections) return `${describe(state.openRejections, unit)} not in the case.`;
  return "Every rejected row was corrected or discarded: nothing is open.";
}

function answerCheck(state: ImportState, unit: string): string {
  const done = "The file was checked. Nothing was written to the case.";
  if (state.rejected === 0) return `${done} Every ${unit} would be accepted.`;
  const [noun, ...rest] = unit.split(" ");
  return `${done} ${count(state.rejected, noun!)} ${rest.join(" ")} would be rejected.`;
}

/** Return a count with its unit and verb, such as `2 rows of the file are`. */
function describe(number: number, unit: string): string {
  const [noun, ...rest] = unit.split(" ");
  return `${count(number, noun!)} ${rest.join(" ")} ${number === 1 ? "is" : "are"}`;
}

function countPast(number: number, noun: string): string {
  return `${count(number, noun)} ${number === 1 ? "was" : "were"}`;
}
