import { useEffect, useRef } from "react";
import { areKeysOn } from "../../ui/keys";

export type Keys = Record<string, (() => void) | undefined>;

const isField = (target: EventTarget | null) =>
  target instanceof HTMLElement && target.closest("input, select, textarea, dialog, summary") !== null;

/** Have keys act anywhere on the page, but not while something is typed or chosen, nor letters that are turned off. */
export function useViewerKeys(keys: Keys): void {
  const current = useRef(keys);
  useEffect(() => {
    current.current = keys;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isField(event.target)) return;
      if (!areKeysOn() && event.key.length === 1) return;
      const act = current.current[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}

/** The keys of pages and their size. A text keeps those by which it scrolls. */
export function buildPageKeys(
  page: number,
  count: number | null,
  hasNext: boolean,
  go: (page: number) => void,
  settings: { change: (direction: 1 | -1) => void; setZoom: (zoom: 1 | "width") => void; rotate: () => void },
): Keys {
  const next = () => (count === null ? hasNext : page < count) && go(page + 1);
  const previous = () => page > 1 && go(page - 1);
  return {
    n: next,
    PageDown: next,
    p: previous,
    PageUp: previous,
    Home: () => go(1),
    End: count === null ? undefined : () => go(count),
    "+": () => settings.change(1),
    "=": () => settings.change(1),
    "-": () => settings.change(-1),
    "0": () => settings.setZoom(1),
    w: () => settings.setZoom("width"),
    r: settings.rotate,
  };
}
