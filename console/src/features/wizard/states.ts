// Why something on the page has to wait, and for what. No React in it.
import type { Schemas } from "../../api/client";
import { MAX_SINGLE_FILES, type Thing } from "../../upload";
import { formatBytes } from "../../ui/values";
import { isListing, type Draft } from "./queries";

/** Return what the panel of the first rows waits for. */
export function explainWaiting(draft: Draft | null, thing: Thing | null, caseName: string | null): string {
  if (!draft && !thing) return "follows from the file";
  if (!draft && caseName === null) return "follows when the case is chosen";
  if (draft?.volume?.status === "failed") return "the load files could not be found";
  if (thing?.kind === "zip" || (draft?.volume?.kind === "zip" && !thing))
    return isListing(draft?.volume?.status) ? "the zip is being unpacked" : "follows when the zip has arrived";
  return draft && !thing && draft.rows?.status === "awaiting_upload"
    ? "follows when the file is chosen again"
    : "being read";
}

interface Readiness {
  refusal: string | null;
  awaits: string;
}

/** Return why nothing can be checked, if so, and what a check that was requested waits for. */
export function explainRefusal(
  draft: Draft | null,
  thing: Thing | null,
  caseName: string | null,
  seal: { isClear: boolean },
): Readiness {
  const awaits = draft?.volume ? "when all files have arrived and are listed" : "when the file has arrived";
  const refusal = (): string | null => {
    if (!draft && !thing) return "Choose files first.";
    if (!draft) return caseName === null ? "Choose the case first." : "The import is being prepared.";
    if (draft.volume && !draft.rows && !seal.isClear && thing) return "Choose the load files first.";
    if (draft.volume?.status === "failed") return "Choose the load files first.";
    if (draft.rows?.status === "cancelled") return "This draft was stopped.";
    if (draft.rows && !draft.rows.actions.includes("check")) return "Change how the file is read first.";
    return null;
  };
  return { refusal: refusal(), awaits };
}

type VolumeImport = Schemas["VolumeDetails"]["imports"][number];

const HELD = ["awaiting_upload", "uploaded", "waiting", "blocked", "splitting", "checking"];
const AT_WORK = ["running", "undoing"];

/**
 * Return the imports of a volume that have to be cancelled before it is read with other load files: what is held or being
 * checked. Throws if another window has run one of them, or undoes it.
 */
export function listHeld(imports: Pick<VolumeImport, "id" | "status" | "wanted">[]): number[] {
  const isHeld = (each: Pick<VolumeImport, "status">) => HELD.includes(each.status);
  const run = imports.find((each) => AT_WORK.includes(each.status) || (isHeld(each) && each.wanted === "import"));
  if (run) throw new Error(`Import ${run.id} of this volume is under way, begun in another window. Reload the page.`);
  return imports.filter(isHeld).map((each) => each.id);
}

/** Return why these files are not those of the draft; null if they can be. */
export function findMismatch(draft: Draft, thing: Thing): string | null {
  const name = draft.volume ? thing.name.replace(/\.zip$/i, "") : thing.name;
  const size = draft.volume ? null : (draft.rows?.size ?? null);
  if (name !== draft.name)
    return `This draft is of “${draft.name}”, and you chose “${name}”. Choose the same files, or start a new import.`;
  const isArchive = thing.kind === "zip" || thing.files.length > MAX_SINGLE_FILES;
  if (draft.volume && isArchive !== (draft.volume.kind === "zip"))
    return `This draft was begun with a ${draft.volume.kind === "zip" ? "zip" : "folder"}. Choose that, or start a new import.`;
  if (size && size !== thing.bytes)
    return `“${name}” had ${formatBytes(size)} and has ${formatBytes(thing.bytes)} now. Start a new import for a changed file.`;
  return null;
}
