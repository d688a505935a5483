import { useEffect, useRef, type RefObject } from "react";
import { announce } from "../../ui/LiveRegion";
import { focusCell, focusNextFault } from "./focus";
import type { SheetRow } from "./rows";
import type { SheetState } from "./useSheet";

interface Wiring {
  element: RefObject<HTMLDivElement | null>;
  isOn: boolean;
  rows: readonly SheetRow[];
  load: () => void;
  /** Rows on their way stay as they were sent. */
  isSending: boolean;
  sheet: SheetState;
}

/** The keys of the page. They do nothing while a dialog is open; letters do nothing where text is entered. */
export function useFixKeys(wiring: Wiring) {
  const current = useRef(wiring);
  useEffect(() => {
    current.current = wiring;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (current.current.isOn && !document.querySelector("dialog[open]") && handle(event, current.current))
        event.preventDefault();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  // Rows that come, or go because they were imported, leave the focus nowhere: it is put into the first cell that is wrong.
  const { isOn, rows, element } = wiring;
  useEffect(() => {
    const isFree = document.activeElement === document.body || document.activeElement?.id === "main";
    if (isOn && rows.length && isFree) element.current?.querySelector<HTMLElement>("[data-fault]")?.focus();
  }, [isOn, rows, element]);
}

function handle(event: KeyboardEvent, { element, load, isSending, sheet }: Wiring): boolean {
  const isCommand = event.ctrlKey || event.metaKey;
  if (isCommand && event.key === "Enter") load();
  else if (isCommand && !event.shiftKey && event.key.toLowerCase() === "z") {
    if (!isSending) undo(element.current, sheet);
  } else if (!isCommand && !event.altKey && event.key.toLowerCase() === "n" && !takesText(event.target))
    focusNextFault(element.current, event.shiftKey ? -1 : 1);
  else return false;
  return true;
}

const takesText = (target: EventTarget | null): boolean =>
  target instanceof HTMLTextAreaElement ||
  target instanceof HTMLSelectElement ||
  (target instanceof HTMLInputElement && target.type !== "checkbox");

/** Take the last step back, and show where it was. */
export function undo(element: HTMLElement | null, sheet: SheetState): void {
  const last = sheet.past.at(-1);
  sheet.undo();
  announce(last ? "The last change is undone." : "There is nothing to undo.");
  if (last) focusCell(element, last.place);
}
