// What an undo does, in words. Nothing here sends a request.
import type { Schemas } from "../../api/client";
import { count } from "../../ui/values";

type Undo = Schemas["Undo"];
type Kind = Schemas["ImportState"]["kind"];

const ENDED: readonly string[] = [
  ...["nothing_to_undo", "undone", "undone_with_conflicts", "undo_failed", "cancelled", "superseded"],
];

export const hasEnded = (undo: Undo) => ENDED.includes(undo.status);

/**
 * Whether an undo answers the request for a dry run: it is that one or, from another window, a later one. A later undo
 * that changes the case does so at once, since nothing is left to offer.
 */
export function isAnswer(undo: Undo, requested: Undo | undefined): boolean {
  const isLater = requested !== undefined && (undo.undoNo ?? 0) >= (requested.undoNo ?? 0);
  return isLater && (hasEnded(undo) || !undo.dryRun);
}

export const REASONS: Record<Schemas["KeptCode"], string> = {
  CHANGED_SINCE: "a user or a later import has changed the document, or this value of it",
  TAGGED_SINCE: "a user has tagged the document",
  HAS_CHILDREN: "an attachment of the document stays",
  IN_PRODUCTION: "the document has Bates numbers of a production",
  DOES_NOT_FIT: "the restored properties are too long together with newer ones",
};

/** What the undo did, or would do: one sentence for each number that is not 0. */
export function describeUndo(undo: Undo, kind: Kind = "rows"): string[] {
  const would = undo.dryRun;
  const verb = (number: number) => (would ? "would be" : number === 1 ? "was" : "were");
  const found: [number, string][] = [
    [undo.removed, `${count(undo.removed, "document")} ${verb(undo.removed)} removed.`],
    [
      undo.restored,
      kind === "images"
        ? `${count(undo.restored, "document")} ${would ? "would have" : undo.restored === 1 ? "has" : "have"} the pages from before this import, or none.`
        : `${count(undo.restored, "document")} ${would ? "would get" : "got"} earlier values or pages back.`,
    ],
    [undo.linksRestored, `${count(undo.linksRestored, "custodian or tag link")} ${verb(undo.linksRestored)} restored.`],
    [undo.kept, `${count(undo.kept, "document")} ${would ? "would stay" : "stayed"}, as a whole or in part.`],
  ];
  const sentences = found.filter(([number]) => number > 0).map(([, sentence]) => sentence);
  return sentences.length ? sentences : [would ? "No document would be changed." : "No document was changed."];
}

/** The words of the button that begins the undo: what it does, in numbers. */
export function labelUndo(undo: Undo, kind: Kind = "rows"): string {
  const parts = [
    undo.removed > 0 && `remove ${count(undo.removed, "document")}`,
    undo.restored > 0 &&
      (kind === "images"
        ? `take back the pages of ${count(undo.restored, "document")}`
        : `restore ${count(undo.restored, "document")}`),
  ].filter(Boolean);
  return parts.length ? `Undo: ${parts.join(", ")}` : "Undo the import";
}

/** The import that a refusal names, if it does: it is what has to be waited for or undone first. */
export function findNamedImport(detail: string): number | null {
  const found = /\bimport (\d+)\b/i.exec(detail);
  return found ? Number(found[1]) : null;
}
