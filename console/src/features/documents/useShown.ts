import { useEffect, useRef } from "react";
import type { ListView } from "./list/useDocumentList";
import type { Summary } from "./list/source";
import { useDocument } from "./queries";
import type { Cursor } from "./useCursor";

/** What the list needs of a document to find it and to choose it. */
export type Named = Pick<Summary, "id" | "controlNumber">;

export interface Shown {
  /** The open document; null if none is open, until it is read, and if it is not in the case. */
  document: Named | null;
  /** Put the cursor on the document, and return whether it is in the list. */
  place: (document: Named) => Promise<boolean>;
  /** Whether it is not in the list (any more), and the cursor is on the row that comes after it. */
  isBeforeCursor: boolean;
  /** Say that a document is opened from its row, so that the cursor stays where the list has put it. */
  markOpened: (id: number) => void;
}

/**
 * The document that is open beside the list. The cursor is placed on it when something else than the list has opened it:
 * a link, the Back button, or the address of the page, unless that has a place in the list.
 */
export function useShown(
  open: number | null,
  caseId: number,
  hasPlace: boolean,
  { list, scroller, goTo }: ListView,
  cursor: Cursor,
): Shown {
  const placed = useRef(hasPlace ? open : null);
  const found = useDocument(open ?? 0, open !== null);
  const document = found.data && !found.isError && found.data.caseId === caseId ? found.data : null;
  const place = async ({ id, controlNumber }: Named, isWanted = () => true) => {
    const index = await list.locate(controlNumber);
    if (!isWanted()) return false;
    if (list.pieces.row(index)?.id !== id) return false;
    const [first, last] = scroller.rows;
    if (index >= first && index <= last) cursor.move(index);
    else await goTo(controlNumber);
    return true;
  };
  const number = document?.controlNumber;
  useEffect(() => {
    if (open === null) placed.current = null;
    else if (cursor.row?.id === open) placed.current = open;
    if (open === null || placed.current === open || !document) return;
    placed.current = open;
    // Not if the user has walked on meanwhile.
    void place(document, () => placed.current === open).catch(() => undefined);
  }, [open, number]);
  const at = number === undefined ? null : list.pieces.indexOf(number);
  return {
    document,
    place,
    isBeforeCursor: at !== null && at === cursor.index && list.pieces.row(at)?.id !== open,
    markOpened: (id) => void (placed.current = id),
  };
}
