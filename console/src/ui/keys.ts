// The keys of the page: those of every page, and those that a page adds while it is open.
import { useEffect, useRef } from "react";

export interface Key {
  /** As `KeyboardEvent.key` says it, or two in turn: `j`, `?`, `g c`. */
  keys: string;
  does: string;
  /** Null for a key that an element handles itself, and that is only listed. */
  run: (() => void) | null;
}

export interface KeyGroup {
  title: string;
  keys: readonly Key[];
}

const groups = new Set<{ current: KeyGroup }>();
let areOn = true;

/** What can be pressed now; a page opened later comes later. */
export const listKeys = (): KeyGroup[] => [...groups].map((each) => each.current);
export const areKeysOn = (): boolean => areOn;
/** Turn the keys of one letter on or off: speech input presses letters by mistake. */
export const turnKeys = (isOn: boolean): void => void (areOn = isOn);

/** Add keys while the component is there. They do nothing where text is entered and while a dialog is open. */
export function useKeys(title: string, keys: readonly Key[]): void {
  const group = useRef({ title, keys });
  useEffect(() => {
    group.current = { title, keys };
  });
  useEffect(() => {
    groups.add(group);
    return () => void groups.delete(group);
  }, []);
}

/** Find the key that was pressed, after the one before it if that begins a pair; `begun` is the begin of a pair. */
export function findKey(pressed: string, before: string): { key: Key | null; begun: string } {
  const all = listKeys()
    .reverse()
    .flatMap(({ keys }) => keys);
  const find = (keys: string) => all.find((each) => each.keys === keys && each.run);
  const pair = before ? find(`${before} ${pressed}`) : undefined;
  const begun = !pair && all.some((each) => each.keys.startsWith(`${pressed} `)) ? pressed : "";
  return { key: pair ?? find(pressed) ?? null, begun };
}

/** Whether letters are entered there. */
export const takesText = (target: EventTarget | null): boolean =>
  target instanceof HTMLTextAreaElement ||
  target instanceof HTMLSelectElement ||
  (target instanceof HTMLInputElement && !["checkbox", "radio", "button", "submit"].includes(target.type)) ||
  (target instanceof HTMLElement && target.isContentEditable);
