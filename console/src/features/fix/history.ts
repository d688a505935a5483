// The draft and the steps to it. What is typed into one cell without a pause for another is one step.
import { EMPTY, type Draft } from "./draft";

export interface History {
  draft: Draft;
  past: readonly { draft: Draft; place: string }[];
  /** The step that the next change of the same place belongs to. */
  place: string | null;
}

export type Step =
  | { do: "change"; place: string; with: (draft: Draft) => Draft }
  /** What the server has taken or given back cannot be undone. */
  | { do: "replace"; with: (draft: Draft) => Draft }
  | { do: "close" }
  | { do: "undo" };

export const START: History = { draft: EMPTY, past: [], place: null };
const MAX_STEPS = 500;

export function step(history: History, wish: Step): History {
  const { draft, past, place } = history;
  if (wish.do === "close") return { ...history, place: null };
  if (wish.do === "undo") {
    const last = past.at(-1);
    return last ? { draft: last.draft, past: past.slice(0, -1), place: null } : history;
  }
  if (wish.do === "replace") return { draft: wish.with(draft), past: [], place: null };
  const next = wish.with(draft);
  if (place === wish.place) return { ...history, draft: next };
  return { draft: next, past: [...past.slice(1 - MAX_STEPS), { draft, place: wish.place }], place: wish.place };
}
