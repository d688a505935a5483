import type { Schemas } from "../../api/client";
import { isRunning } from "../../ui/Status";

/** Whether everything of the file is in the case, and if not, what is missing, in one sentence. */
export function answer(state: Schemas["ImportState"]): string {
  const unit = state.kind === "images" ? "document of the image load file" : "row of the file";
  if (state.status === "checked") return "The file was checked. Nothing was written to the case.";
  if (state.status === "completed") return `Every ${unit} is in the case.`;
  if (state.status === "completed_with_rejections")
    return state.openRejections
      ? `${describe(state.openRejections, unit)} not in the case.`
      : "Every rejected row was corrected or discarded: nothing is open.";
  if (state.status === "cancelled") return "The import was cancelled; the rows that it had imported are in the case.";
  if (state.status === "undone") return "The import was undone: nothing of it is left in the case.";
  if (isRunning(state.status)) return "The import is running. You can leave this page.";
  if (state.status === "awaiting_upload") return "The file has not arrived yet.";
  if (state.status === "uploaded") return "The file has arrived and is held: nothing is imported until it is run.";
  return "";
}

/** Return a count with its unit and verb, such as `2 rows of the file are`. */
function describe(number: number, unit: string): string {
  const [noun, ...rest] = unit.split(" ");
  return `${number.toLocaleString()} ${noun}${number === 1 ? "" : "s"} ${rest.join(" ")} ${number === 1 ? "is" : "are"}`;
}
