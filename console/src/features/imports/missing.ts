// What a volume lacks: its load files name natives, texts and pages, and this is what is not there.
import type { Schemas } from "../../api/client";
import { count } from "../../ui/values";
import { isUndone } from "./answer";

type Details = Schemas["ImportDetails"];

export interface Lack {
  what: string;
  missing: number;
  /** How many there are of it in all; null where that says nothing. */
  of: number | null;
}

/** Return the imports whose rows count: of each load file the newest that was not undone, and all corrections. */
export function chooseImports(imports: readonly Details[]): Details[] {
  const seen = new Set<string>();
  return [...imports]
    .sort((a, b) => b.id - a.id)
    .filter((each) => {
      if (isUndone(each)) return false;
      if (each.corrects !== null) return true;
      const isNew = !seen.has(`${each.kind} ${each.fileName}`);
      seen.add(`${each.kind} ${each.fileName}`);
      return isNew;
    });
}

/** Return what the load files of a volume name, each with how much of it is missing. */
export function listLacks(imports: readonly Details[]): Lack[] {
  const chosen = chooseImports(imports);
  const sum = (read: (each: Details) => number | null | undefined) =>
    chosen.reduce((total, each) => total + (read(each) ?? 0), 0);
  const [natives, texts] = [sum((each) => each.files?.nativesMissing), sum((each) => each.files?.textsMissing)];
  return [
    { what: "rejected row", ...countOpen(chosen, "rows") },
    { what: "document of the image load file", ...countOpen(chosen, "images") },
    { what: "native", missing: natives, of: natives + sum((each) => each.files?.nativesLinked) },
    { what: "text", missing: texts, of: texts + sum((each) => each.files?.textsLinked) },
    { what: "page image", missing: sum((each) => each.pages?.missingImages), of: sum((each) => each.pages?.imported) },
    { what: "document without pages", missing: sum((each) => each.pages?.withoutImages), of: null },
    { what: "file that no row names", missing: maximum(chosen), of: null },
  ].filter((each) => each.missing > 0 || (each.of ?? 0) > 0);
}

/** Rows that are open, and documents of image load files: their numbers are not of one kind. */
function countOpen(imports: readonly Details[], kind: Details["kind"]): Omit<Lack, "what"> {
  const ofKind = imports.filter((each) => each.kind === kind);
  const sum = (read: (each: Details) => number) => ofKind.reduce((total, each) => total + read(each), 0);
  // The rows of a correction are those of its original again.
  return {
    missing: sum((each) => each.openRejections),
    of: sum((each) => (each.corrects === null ? each.rowsSeen : 0)),
  };
}

/** Every import of a volume counts the same files that no row names. */
function maximum(imports: readonly Details[]): number {
  return Math.max(0, ...imports.map((each) => each.files?.unreferenced ?? 0));
}

/** Answer what is missing, in one sentence. */
export function answerVolume(lacks: readonly Lack[]): string {
  const missing = lacks.filter((each) => each.missing > 0 && each.what !== "file that no row names");
  if (missing.length === 0) return "Nothing is missing: every file that the load files name is there.";
  return `Missing or open: ${missing.map((each) => pluralOf(each)).join(", ")}.`;
}

/** Return a number with its noun; the noun may have words after it, as in `2 documents without pages`. */
export function pluralOf({ what, missing }: Lack): string {
  const [, noun = what, rest = ""] = /^(document|file)( .*)$/.exec(what) ?? [];
  return `${count(missing, noun)}${rest}`;
}
