import { useRef, useState } from "react";
import { keepLineEnds, toControl } from "../../ui/lineEnds";
import { Untrusted } from "../../ui/Untrusted";
import { describeFit, insertEmpty, joinRecords, merge, removeEmpty, split, type Cells } from "./cells";
import { findLineEnd, showRaw, type Column, type SheetRow } from "./rows";

interface Props {
  row: SheetRow;
  cells: Cells;
  columns: readonly Column[];
  joiner: string;
  isReady: boolean;
  /** Whether a cell has the sign for bytes that cannot be read. */
  hasReplaced: boolean;
  /** The next record of the sheet, if its cells may be the rest of this one's. */
  next: { row: SheetRow; cells: Cells } | null;
  onCells: (cells: Cells, place: string) => void;
  onAsIs: () => void;
  onJoin: (cells: Cells) => void;
  onClose: () => void;
}

/** A record whose cells do not fit the header: its cells as chips under the names of the columns, to be arranged. */
export function Shape(props: Props) {
  const { cells, columns, row } = props;
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="shape">
      <p className="fit">
        <strong className={props.isReady ? "good" : "mark"}>
          {props.isReady ? "✓" : "▲"} {describeFit(cells.length, columns.length)}
        </strong>{" "}
        {row.isProposed && !props.isReady && (
          <span className="quiet">The page has divided the record: compare it. </span>
        )}
        {props.hasReplaced && !props.isReady && (
          <span className="mark">The file has bytes that cannot be read: enter what � stands for. </span>
        )}
        <button
          type="button"
          className="small"
          data-fault={(!isOpen && !props.isReady) || undefined}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? "Fold" : `Arrange the ${cells.length} cells of line ${row.line}`}
        </button>
      </p>
      {isOpen ? (
        <Chips {...props} />
      ) : (
        <p className="raw clipped">
          <Untrusted text={showRaw(row).slice(0, 600)} />
        </p>
      )}
    </div>
  );
}

function Chips(props: Props) {
  const { cells, columns, row, onCells } = props;
  const [at, setAt] = useState(0);
  const list = useRef<HTMLOListElement>(null);
  const position = useRef(0);
  const chosen = Math.min(at, cells.length - 1);
  const act = (next: Cells, focus: number) => {
    onCells(next, `shape ${row.line} ${Math.random()}`);
    setAt(focus);
    requestAnimationFrame(() => list.current?.querySelectorAll("textarea")[focus]?.focus());
  };
  return (
    <>
      <Tools {...props} at={chosen} position={position} act={act} />
      <ol className="chips" ref={list}>
        {Array.from({ length: Math.max(cells.length, columns.length) }, (_, index) => (
          <li key={index} className={index >= columns.length || index >= cells.length ? "chip off" : "chip"}>
            <span className="quiet">
              {index + 1} {columns[index] ? <Untrusted text={columns[index].name} /> : <em>no column</em>}
            </span>
            {index < cells.length ? (
              <textarea
                rows={1}
                dir="auto"
                spellCheck={false}
                aria-label={`Cell ${index + 1} of line ${row.line}, ${columns[index]?.name ?? "no column"}`}
                aria-current={index === chosen || undefined}
                autoFocus={index === 0}
                value={toControl(cells[index]!)}
                onFocus={() => setAt(index)}
                onSelect={(event) => (position.current = event.currentTarget.selectionStart)}
                onChange={(event) =>
                  onCells(cells.with(index, keepLineEnds(cells[index]!, event.target.value)), `${row.line}:${index}`)
                }
                onBlur={props.onClose}
              />
            ) : (
              <em className="mark">no cell</em>
            )}
          </li>
        ))}
      </ol>
    </>
  );
}

interface ToolsProps extends Props {
  at: number;
  position: React.RefObject<number>;
  act: (next: Cells, focus: number) => void;
}

/** What can be done to the chosen cell; each button names the cell by its number. */
function Tools({ cells, columns, at, position, act, joiner, next, ...props }: ToolsProps) {
  const number = at + 1;
  const canUse = cells.length === columns.length && !props.isReady;
  return (
    <div className="bar tools" role="toolbar" aria-label={`Arrange line ${props.row.line}`}>
      <button type="button" disabled={number >= cells.length} onClick={() => act(merge(cells, at, joiner), at)}>
        Merge cell {number} with {number + 1}
      </button>
      <button type="button" onClick={() => act(split(cells, at, position.current), at + 1)}>
        Split cell {number} at the cursor
      </button>
      <button type="button" onClick={() => act(insertEmpty(cells, at), at)}>
        Shift right from cell {number}
      </button>
      <button
        type="button"
        disabled={cells[at] !== "" || cells.length === 1}
        title="An empty cell is removed; one with text is not."
        onClick={() => act(removeEmpty(cells, at), Math.max(at - 1, 0))}
      >
        Remove empty cell {number}
      </button>
      {next && (
        <button type="button" onClick={() => props.onJoin(joinRecords(cells, next.cells, findLineEnd(props.row)))}>
          Join with line {next.row.line}, and leave that out
        </button>
      )}
      {canUse && (
        <button type="button" className="primary" onClick={props.onAsIs}>
          Use these cells
        </button>
      )}
      <button type="button" onClick={() => props.onCells(props.row.cells ?? [], `shape ${props.row.line} start`)}>
        Start again
      </button>
    </div>
  );
}
