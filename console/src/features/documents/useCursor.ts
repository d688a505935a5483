import { useReducer, type KeyboardEvent } from "react";
import { announce } from "../../ui/LiveRegion";
import type { ListView } from "./list/useDocumentList";
import { ROW_PX } from "./list/useDocumentList";
import type { Summary } from "./list/source";

export interface Cursor {
  /** The position that keys act on; null before one is pressed. */
  index: number | null;
  row: Summary | null;
  move: (index: number) => void;
  /** Where a key leads, from before its row if `isBefore`; null for a key that does not move. */
  find: (key: string, isBefore?: boolean) => number | null;
  /** Have its row in view. */
  reveal: () => void;
}

/** The row that keys act on: it stays with its document when rows come in before it. */
export function useCursor({ list, scroller }: ListView): Cursor {
  const [, draw] = useReducer((count: number) => count + 1, 0);
  const index = list.kept.get("cursor") ?? null;
  const last = list.pieces.total - 1;
  const find = (key: string, isBefore = false): number | null => {
    const page = Math.max(Math.floor(scroller.viewHeight / ROW_PX) - 1, 1);
    const steps: Record<string, number> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1, PageDown: page, PageUp: -page };
    if (key === "Home") return 0;
    if (key === "End") return last;
    const step = steps[key];
    if (step === undefined) return null;
    // As it is now: a link to a document may have put it elsewhere since.
    const from = list.kept.get("cursor") ?? scroller.rows[0] - Math.sign(step);
    return Math.min(Math.max(from + step - Number(isBefore && step > 0), 0), last);
  };
  const move = (to: number) => {
    list.kept.set("cursor", to);
    scroller.reveal(to);
    draw();
  };
  const reveal = () => {
    if (index !== null) scroller.reveal(index);
  };
  return { index, row: index === null ? null : list.pieces.row(index), move, find, reveal };
}

/** Whether a key is one of the grid alone, so that the page does not scroll by it. */
export const isPlain = (event: KeyboardEvent): boolean => !event.ctrlKey && !event.metaKey && !event.altKey;

export const sayChosen = (count: number) =>
  announce(count === 1 ? "1 document is chosen." : `${count.toLocaleString("en-US")} documents are chosen.`);

/** Have it read aloud that one document is chosen, or not any more, and how many are. */
export const sayToggled = (controlNumber: string, isChosen: boolean, count: number | undefined) =>
  announce(
    `${controlNumber} is ${isChosen ? "chosen" : "no longer chosen"}` +
      (count === undefined ? "." : `, ${count.toLocaleString("en-US")} in all.`),
  );
