import type { KeyboardEvent, RefObject } from "react";
import { Untrusted } from "../../ui/Untrusted";
import { cellsOf, findAlike, type Change, type Draft } from "./draft";
import { focusNextFault, moveFromEdge } from "./focus";
import { Row, type RowActions } from "./Row";
import { isFollowed, kindOf, type Column, type SheetRow } from "./rows";

interface Props {
  importId: number;
  sheet: RefObject<HTMLDivElement | null>;
  rows: readonly SheetRow[];
  columns: readonly Column[];
  shown: readonly number[];
  joiner: string;
  draft: Draft;
  refusals: ReadonlyMap<number, string>;
  inFlight: ReadonlySet<number>;
  /** What was sent of lines whose import has not ended. */
  sent: ReadonlyMap<number, Change>;
  isReadOnly: boolean;
  canLoad: boolean;
  lastEdit: { line: number; at: number } | null;
  actions: RowActions;
  onAlike: (rows: readonly SheetRow[], at: number, text: string) => void;
}

/** The rejected rows, one below the other; line and reason stay while the columns are scrolled. */
export function Sheet(props: Props) {
  const { rows, columns, shown, draft, sheet } = props;
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const isText = event.target instanceof HTMLTextAreaElement;
    const isPlain =
      !event.shiftKey && !event.ctrlKey && !event.altKey && !event.metaKey && !event.nativeEvent.isComposing;
    if (isText && isPlain && event.key === "Enter") {
      event.preventDefault();
      focusNextFault(sheet.current, 1);
    } else if (isText && isPlain && moveFromEdge(sheet.current, event.target as HTMLTextAreaElement, event.key))
      event.preventDefault();
  };
  return (
    <div
      className="sheet"
      ref={sheet}
      role="region"
      aria-label="Rejected rows"
      tabIndex={props.isReadOnly ? 0 : undefined}
      onKeyDown={onKeyDown}
    >
      <table className="list">
        <thead>
          <tr>
            <th scope="col" className="frozen">
              Line
            </th>
            <th scope="col" className="frozen reason">
              Reason
            </th>
            {columns.length === 0 && <th scope="col">As it is in the file</th>}
            {shown.map((at) => (
              <th scope="col" key={at}>
                <Untrusted text={columns[at]!.name} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <Row
              key={row.line}
              importId={props.importId}
              row={row}
              columns={columns}
              shown={shown}
              joiner={props.joiner}
              change={draft.changes.get(row.line) ?? props.sent.get(row.line)}
              isOut={draft.out.has(row.line)}
              isReadOnly={props.isReadOnly || props.inFlight.has(row.line)}
              canLoad={props.canLoad}
              refused={props.refusals.get(row.line)}
              next={findRest(draft, row, rows[index + 1], columns.length)}
              alike={offerAlike(props, row)}
              actions={props.actions}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A line break inside a cell divides a record into two that are too short: offer the next one as the rest of it. */
function findRest(draft: Draft, row: SheetRow, next: SheetRow | undefined, width: number) {
  if (!next?.cells || next.takenBy !== null || kindOf(row, width) !== "shape" || kindOf(next, width) !== "shape")
    return null;
  if (draft.out.has(next.line) || !isFollowed(row, next)) return null;
  const cells = cellsOf(draft, next);
  return cellsOf(draft, row).length < width && cells.length < width ? { row: next, cells } : null;
}

function offerAlike({ lastEdit, draft, rows, columns, inFlight, onAlike }: Props, row: SheetRow) {
  const change = draft.changes.get(row.line);
  if (!change || lastEdit?.line !== row.line || !row.cells) return null;
  const { at } = lastEdit;
  const [before, after] = [row.cells[at] ?? "", change.cells[at] ?? ""];
  const open = rows.filter(({ line }) => !inFlight.has(line) && !draft.out.has(line));
  const alike = before === after ? [] : findAlike(draft, open, columns, row, at);
  if (alike.length === 0) return null;
  return { at, count: alike.length, text: before, onApply: () => onAlike(alike, at, after) };
}
