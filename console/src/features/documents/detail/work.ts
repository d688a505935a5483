// The edits of this window that are not saved, by document. They outlive the panel, so that walking through the list,
// or opening another page, loses nothing; they are in memory alone, and end with the session.
import { useSyncExternalStore } from "react";
import { isSignedOut, subscribe as subscribeToSession } from "../../../auth/session";
import { countChanges, openDraft, type Choices, type Draft } from "./draft";
import type { Exhibit } from "./fields";
import type { Writers } from "./writers";

/** What others have saved since the user began, and what the user has decided about it. */
export interface EditConflict {
  theirs: Exhibit;
  writers: Writers;
  choices: Choices;
}

export interface Work {
  draft: Draft;
  isSaving: boolean;
  /** Why the last attempt to save failed; null if it did not, or `faults` or `conflict` say why. */
  error: unknown;
  /** How many attempts to save have ended without success. */
  failures: number;
  /** What the server refuses, by place or name of a list. */
  faults: ReadonlyMap<string, string>;
  conflict: EditConflict | null;
  /** The keys of requests whose answers are not known. */
  keys: Map<string, string>;
}

const works = new Map<number, Work>();
const listeners = new Set<() => void>();
let version = 0;

/** Begin to edit a document; edits that are there are kept. */
export function beginWork(base: Exhibit): void {
  if (!works.has(base.id))
    put(base.id, {
      draft: openDraft(base),
      isSaving: false,
      error: null,
      failures: 0,
      faults: new Map(),
      conflict: null,
      keys: new Map(),
    });
}

/** Return the edits of a document; undefined if it is not being edited. */
export const getWork = (id: number): Work | undefined => works.get(id);

/** Change some of the edits of a document; nothing if it is not being edited any more. */
export function changeWork(id: number, changes: Partial<Work>): void {
  const before = works.get(id);
  if (before) put(id, { ...before, ...changes });
}

export function endWork(id: number): void {
  if (works.delete(id)) tell();
}

function put(id: number, work: Work): void {
  works.set(id, work);
  tell();
}

function tell(): void {
  version++;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const hasChanges = (work: Work): boolean => work.isSaving || countChanges(work.draft) > 0;

export function useWork(id: number): Work | undefined {
  return useSyncExternalStore(subscribe, () => works.get(id));
}

/** The documents with edits that are not saved. */
export function useUnsaved(): Exhibit[] {
  useSyncExternalStore(subscribe, () => version);
  return [...works.values()].filter(hasChanges).map(({ draft }) => draft.base);
}

// A reload, the closing of the window and a sign-out ask first, wherever the user is by then.
globalThis.addEventListener?.("beforeunload", (event) => {
  if ([...works.values()].some(hasChanges)) event.preventDefault();
});

subscribeToSession(() => {
  if (!isSignedOut() || works.size === 0) return;
  works.clear();
  tell();
});
