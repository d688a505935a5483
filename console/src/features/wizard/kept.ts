// What this window has of a draft beside what the server keeps: the chosen files, and choices that are not sent yet. It
// is in memory alone, so that no name of a client's file is left in the browser.
import { useSyncExternalStore } from "react";
import type { Schemas } from "../../api/client";
import type { Picked, Thing } from "../../upload";

export type Options = Schemas["SingleFileOptions"];

export interface Kept {
  picked: Picked | null;
  thing: Thing | null;
  /** The name of the case that the files are for, once the user has decided it. */
  caseName: string | null;
  /** The preview of the first bytes, once they are sent; for the data file of this path. */
  preview: { id: string; path: string } | null;
  previewFault: unknown;
  options: Options | null;
  profile: string | null | undefined;
  loadFile: string | null;
  imageLoadFile: string | null;
  /** The options that the server has, as `stamp` returns them. */
  saved: string | null;
  /** The version of the options that this window has stored last. */
  savedVersion: number | null;
  /** The key of a check that follows as soon as everything is there; null if none does. */
  wantsCheck: string | null;
}

const NOTHING: Kept = {
  picked: null,
  thing: null,
  caseName: null,
  preview: null,
  previewFault: null,
  options: null,
  profile: undefined,
  loadFile: null,
  imageLoadFile: null,
  saved: null,
  savedVersion: null,
  wantsCheck: null,
};

const drafts = new Map<string, Kept>();
const listeners = new Set<() => void>();

export const NEW = "new";
export const getKept = (place: string): Kept => drafts.get(place) ?? NOTHING;
export const listKept = (): [string, Kept][] => [...drafts];

export function useKept(place: string): Kept {
  return useSyncExternalStore(subscribe, () => getKept(place));
}

/** Keep more about a draft: `place` is `new`, or `import:12` or `volume:3` once the server has it. */
export function keep(place: string, changes: Partial<Kept>): void {
  drafts.set(place, { ...getKept(place), ...changes });
  publish();
}

/** Give the draft the place that it has on the server. */
export function moveKept(from: string, to: string): void {
  drafts.set(to, getKept(from));
  drafts.delete(from);
  publish();
}

export function forgetKept(place: string): void {
  drafts.delete(place);
  publish();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function publish(): void {
  for (const listener of listeners) listener();
}
