import { useEffect, useState, type FormEvent } from "react";
import type { SheetSettings } from "./useSheetSettings";

interface SheetBarProps {
  page: number;
  /** How many pages there are; null while that is not known. */
  count: number | null;
  /** How many pages have been found so far. */
  known?: number | null;
  /** Whether another page follows, where their number is not known. */
  hasNext: boolean;
  settings: SheetSettings;
  go: (page: number) => void;
}

/** Which page is shown, and how. */
export function SheetBar({ page, count, known, hasNext, settings, go }: SheetBarProps) {
  const { zoom } = settings;
  return (
    <div className="sheet-bar">
      {(count === null || count > 1) && <PageChoice {...{ page, count, known, hasNext, go }} />}
      <span className="zoom" role="group" aria-label="Size">
        <button type="button" onClick={() => settings.change(-1)} aria-label="Smaller">
          −
        </button>
        <span className="num">{settings.percent} %</span>
        <button type="button" onClick={() => settings.change(1)} aria-label="Larger">
          +
        </button>
        <button type="button" aria-pressed={zoom === "width"} onClick={() => settings.setZoom("width")}>
          Fit width
        </button>
        <button type="button" aria-pressed={zoom === "whole"} onClick={() => settings.setZoom("whole")}>
          Whole page
        </button>
        <button type="button" aria-pressed={zoom === 1} onClick={() => settings.setZoom(1)}>
          100 %
        </button>
        <button type="button" onClick={settings.rotate}>
          Rotate
        </button>
      </span>
    </div>
  );
}

function PageChoice({ page, count, known, hasNext, go }: Omit<SheetBarProps, "settings">) {
  const [typed, setTyped] = useState(String(page));
  useEffect(() => setTyped(String(page)), [page]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const to = Number(typed);
    if (Number.isSafeInteger(to) && to >= 1) go(count === null ? to : Math.min(to, count));
  };
  return (
    <form className="page-choice" onSubmit={submit}>
      <button type="button" disabled={page <= 1} onClick={() => go(page - 1)}>
        Previous page
      </button>
      <label>
        Page{" "}
        <input
          value={typed}
          inputMode="numeric"
          size={5}
          onChange={(event) => setTyped(event.target.value)}
          onFocus={(event) => event.target.select()}
        />
      </label>
      <span className="quiet">
        of {count === null ? (known ? `at least ${known.toLocaleString()}` : "…") : count.toLocaleString()}
      </span>
      <button type="button" disabled={count === null ? !hasNext : page >= count} onClick={() => go(page + 1)}>
        Next page
      </button>
    </form>
  );
}
