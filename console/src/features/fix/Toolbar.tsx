import { count } from "../../ui/values";
import { nameReason } from "../../ui/codes";
import { useCodeCounts } from "./queries";
import type { Page } from "./usePage";

interface Props {
  importId: number;
  openRejections: number;
  code: string | null;
  onCode: (code: string | null) => void;
  columns: number;
  isAll: boolean;
  onAll: (isAll: boolean) => void;
  rows: number;
  page: Page;
  next: string | null;
}

/** What the sheet shows: rows of one reason, which columns, which page. */
export function Toolbar(props: Props) {
  const { page, next } = props;
  const counts = useCodeCounts(props.importId, props.openRejections);
  const codes = counts.data ?? [];
  const isKnown = props.code === null || codes.some(([code]) => code === props.code);
  return (
    <div className="bar">
      <label>
        Reason{" "}
        <select value={props.code ?? ""} onChange={(event) => props.onCode(event.target.value || null)}>
          <option value="">all reasons</option>
          {codes.map(([code, rows]) => (
            <option key={code} value={code}>
              {nameReason(code)} ({rows.toLocaleString()} rejected)
            </option>
          ))}
          {!isKnown && <option value={props.code!}>{nameReason(props.code!)}</option>}
        </select>
      </label>
      {props.columns > 1 && (
        <label>
          <input type="checkbox" checked={props.isAll} onChange={(event) => props.onAll(event.target.checked)} /> all{" "}
          {count(props.columns, "column")}
        </label>
      )}
      {(page.hasPrevious || next) && (
        <span className="bar">
          <button type="button" disabled={!page.hasPrevious} onClick={page.previous}>
            Previous rows
          </button>
          <span>{count(props.rows, "row")} on this page</span>
          <button type="button" disabled={!next} onClick={() => next && page.next(next)}>
            Next rows
          </button>
        </span>
      )}
      <details className="keys">
        <summary>Keys</summary>
        <ul>
          <li>
            <kbd>Enter</kbd> next fault · <kbd>Shift+Enter</kbd> line break in the cell
          </li>
          <li>
            <kbd>n</kbd> <kbd>Shift+n</kbd> next, previous fault, outside of a cell
          </li>
          <li>
            arrows at the edge of a cell’s text: the cell beside it · <kbd>Ctrl+Space</kbd> take the suggestion
          </li>
          <li>
            <kbd>Ctrl+Z</kbd> undo · <kbd>Ctrl+Enter</kbd> import the corrected rows
          </li>
        </ul>
      </details>
    </div>
  );
}
