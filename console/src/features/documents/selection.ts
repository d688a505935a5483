// The documents that the user has chosen in a list: some by their ids, or all that match its filters but for some. The
// pages in memory do not matter: "all" means all that match when something is done with it.
//
// `SelectionLine` shows it and has the children that do something with it. They get `ActionProps`.
import type { Filters } from "../../api/documentFilters";

export type Selection =
  | { readonly kind: "some"; readonly ids: ReadonlySet<number> }
  | { readonly kind: "all"; readonly except: ReadonlySet<number> };

/** How many documents: null while that is not known, and at least `count` if `isAtLeast`. */
export interface Size {
  readonly count: number;
  readonly isAtLeast: boolean;
}

/** What a button needs that does something with the chosen documents. */
export interface ActionProps {
  caseId: number;
  /** Null until the case is read. */
  caseName: string | null;
  /** What "all" means; without `from`, which is a place in the list and no filter. */
  filters: Filters;
  selection: Selection;
  /** How many documents are chosen. */
  size: Size | null;
  /** Choose nothing, once it is done. */
  clear: () => void;
}

export const NOTHING: Selection = { kind: "some", ids: new Set() };
export const ALL: Selection = { kind: "all", except: new Set() };

export function isChosen(selection: Selection, id: number): boolean {
  return selection.kind === "some" ? selection.ids.has(id) : !selection.except.has(id);
}

/** Choose these documents, or undo that. */
export function choose(selection: Selection, ids: Iterable<number>, isWanted = true): Selection {
  const isAdded = (selection.kind === "some") === isWanted;
  const changed = new Set(selection.kind === "some" ? selection.ids : selection.except);
  for (const id of ids) isAdded ? changed.add(id) : changed.delete(id);
  return selection.kind === "some" ? { kind: "some", ids: changed } : { kind: "all", except: changed };
}

export const toggle = (selection: Selection, id: number): Selection =>
  choose(selection, [id], !isChosen(selection, id));

/** Whether it is known that no document is chosen: all but for as many as match is nothing, too. */
export function isEmpty(selection: Selection, matching: Size | null): boolean {
  const chosen = measure(selection, matching);
  return chosen?.count === 0 && !chosen.isAtLeast;
}

/** How many documents are chosen, of those that match. */
export function measure(selection: Selection, matching: Size | null): Size | null {
  if (selection.kind === "some") return { count: selection.ids.size, isAtLeast: false };
  if (matching === null) return null;
  return { count: Math.max(matching.count - selection.except.size, 0), isAtLeast: matching.isAtLeast };
}
