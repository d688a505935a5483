// Whether rows of an import can be corrected here, and what lifts it if they cannot.
import type { Schemas } from "../../api/client";
import { isRunning } from "../../ui/Status";
import type { State } from "./queries";

export interface Access {
  canEdit: boolean;
  /** Whether rows can be imported; those of an image load file can only be left out. */
  canLoad: boolean;
  sentence: string | null;
}

const no = (sentence: string | null): Access => ({ canEdit: false, canLoad: false, sentence });

/** `refusal` is why the case takes no changes, null if it does. */
export function decideAccess(
  state: State,
  role: Schemas["Role"] | undefined,
  isNarrow: boolean,
  refusal: string | null = null,
): Access {
  const before = explainState(state) ?? refusal;
  if (before) return no(before);
  if (role === undefined) return no(null);
  if (role === "viewer") return no("You have the role viewer: you can read the rows, and an editor can correct them.");
  if (isNarrow) return no("This window is too narrow to correct rows. Open the page on a wider screen.");
  if (state.kind === "images")
    return {
      canEdit: true,
      canLoad: false,
      sentence:
        "The pages of a corrected row follow by themselves once it is imported. Other lines of an image load file are " +
        "corrected in its file of rejected rows; here they can be left out.",
    };
  return { canEdit: true, canLoad: true, sentence: null };
}

function explainState(state: State): string | null {
  if (state.corrects !== null)
    return "This import is a correction. Its rows are corrected in the import that it corrects.";
  if (state.phase === "check")
    return "This is a check: nothing was imported. Import the file, then correct what it rejects.";
  if (isRunning(state.status) && state.status !== "undoing")
    return "The import is running. Its rows can be corrected when it has ended.";
  if (["awaiting_upload", "uploaded", "blocked"].includes(state.status)) return "The import has not run yet.";
  if (state.status.startsWith("und")) return "The import was undone: there is nothing to correct.";
  return null;
}
