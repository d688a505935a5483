import { memo } from "react";
import { Link } from "wouter";
import { LongText, Untrusted } from "../../ui/Untrusted";
import { Cell } from "./Cell";
import type { Cells } from "./cells";
import { nameReason } from "../../ui/codes";
import { hasReplaced, judge, type Change } from "./draft";
import { Choices, Reason, Refused } from "./Reason";
import { findFaults, kindOf, showRaw, type Column, type SheetRow } from "./rows";
import { Shape } from "./Shape";

/** What a row can do to the draft; the same object at every rendering. */
export interface RowActions {
  onText: (row: SheetRow, at: number, text: string) => void;
  onCells: (row: SheetRow, cells: Cells, place: string) => void;
  onJoin: (row: SheetRow, cells: Cells, other: SheetRow) => void;
  onAsIs: (row: SheetRow, isAsIs: boolean) => void;
  onOut: (row: SheetRow, isOut: boolean) => void;
  onCompare: (row: SheetRow) => void;
  onDrop: (line: number) => void;
  onSendAgain: (line: number) => void;
  onClose: () => void;
}

export interface RowProps {
  importId: number;
  row: SheetRow;
  columns: readonly Column[];
  shown: readonly number[];
  joiner: string;
  change: Change | undefined;
  isOut: boolean;
  isReadOnly: boolean;
  /** Whether rows can be imported, and not only left out. */
  canLoad: boolean;
  refused: string | undefined;
  next: { row: SheetRow; cells: Cells } | null;
  /** Offered at the cell that was edited last: other cells with the same fault. */
  alike: { at: number; count: number; text: string; onApply: () => void } | null;
  actions: RowActions;
}

export const Row = memo(function Row(props: RowProps) {
  const { row, change, isOut, actions } = props;
  const verdict = judge(change, props.columns.length);
  const kind = kindOf(row, props.columns.length);
  const canChange = !props.isReadOnly && row.takenBy === null && kind !== "chunk";
  const state = isOut ? "out" : props.refused ? "refused" : verdict;
  return (
    <tr className={state} data-line={row.line}>
      <th scope="row" className="frozen">
        {row.line.toLocaleString()}
        {canChange && (
          <label className="tick">
            <input type="checkbox" checked={isOut} onChange={(event) => actions.onOut(row, event.target.checked)} />{" "}
            leave out
          </label>
        )}
        {state === "ready" && <span className="good tick">✓ corrected</span>}
      </th>
      <td className="frozen reason">
        <Reason row={row} />
        {row.takenBy !== null && <p>Being imported by import {row.takenBy}.</p>}
        {props.refused && (
          <Refused
            message={props.refused}
            onDrop={() => actions.onDrop(row.line)}
            onSendAgain={() => actions.onSendAgain(row.line)}
          />
        )}
        {canChange && !isOut && (
          <Choices
            row={row}
            change={change}
            canLoad={props.canLoad && kind === "cells"}
            onAsIs={(asIs) => actions.onAsIs(row, asIs)}
            onCompare={() => actions.onCompare(row)}
          />
        )}
      </td>
      <Content {...props} />
    </tr>
  );
});

function Content(props: RowProps) {
  const { row, columns, shown } = props;
  const kind = kindOf(row, columns.length);
  if (kind === "chunk")
    return (
      <td colSpan={shown.length}>
        {row.count.toLocaleString()} rows failed together and were never looked at one by one.{" "}
        <Link href={`/imports/${props.importId}`}>Go to the import, and retry it</Link>
      </td>
    );
  if (kind === "unreadable") return <Unreadable row={row} width={shown.length} />;
  const isFixed = props.isReadOnly || row.takenBy !== null || props.isOut;
  const isArranged = judge(props.change, columns.length) === "ready";
  if (kind === "shape" && isFixed && !(isArranged && !props.isOut))
    return (
      <td colSpan={shown.length} className="raw">
        <LongText text={showRaw(row)} />
      </td>
    );
  if (kind === "shape" && !isFixed) return <ShapeCell {...props} />;
  return isFixed ? <FixedCells {...props} /> : <EditedCells {...props} />;
}

function Unreadable({ row, width }: { row: SheetRow; width: number }) {
  return (
    <td colSpan={Math.max(width, 1)} className="raw">
      <Untrusted text={showRaw(row)} />
      {!row.isRawWhole && <p className="quiet">Only the beginning is shown.</p>}
    </td>
  );
}

function ShapeCell({ row, change, columns, shown, actions, ...props }: RowProps) {
  return (
    <td colSpan={shown.length}>
      <Shape
        row={row}
        cells={change?.cells ?? row.cells ?? []}
        columns={columns}
        joiner={props.joiner}
        next={props.next}
        isReady={judge(change, columns.length) === "ready"}
        hasReplaced={hasReplaced(change?.cells ?? row.cells ?? [])}
        onCells={(cells, place) => actions.onCells(row, cells, place)}
        onAsIs={() => actions.onAsIs(row, true)}
        onJoin={(cells) => props.next && actions.onJoin(row, cells, props.next.row)}
        onClose={actions.onClose}
      />
    </td>
  );
}

function FixedCells({ row, change, columns, shown }: RowProps) {
  const faults = findFaults(row, columns);
  const cells = change?.cells ?? row.cells ?? [];
  // What another window has sent of the row is not known here.
  const isReady = row.takenBy !== null || judge(change, columns.length) === "ready";
  const isBad = (at: number) => faults.has(at) && !isReady && cells[at] === (row.cells?.[at] ?? "");
  return shown.map((at) => (
    <td key={at} className={isBad(at) ? "bad" : undefined}>
      <LongText text={cells[at]} />
      {isBad(at) && <span className="mark">▲ {nameReason(faults.get(at)![0]!.code)}</span>}
    </td>
  ));
}

function EditedCells({ row, change, columns, shown, actions, alike }: RowProps) {
  const faults = findFaults(row, columns);
  const cells = change?.cells ?? row.cells ?? [];
  const isReady = judge(change, columns.length) === "ready";
  return shown.map((at) => (
    <td key={at}>
      <Cell
        label={columns[at]!.name}
        line={row.line}
        at={at}
        text={cells[at] ?? ""}
        original={row.cells?.[at] ?? ""}
        faults={faults.get(at)}
        isDone={isReady || cells[at] !== row.cells?.[at]}
        isInOrder={faults.has(at)}
        onText={(text) => actions.onText(row, at, text)}
        onClose={actions.onClose}
      />
      {alike?.at === at && (
        <button type="button" className="small" onClick={alike.onApply}>
          Apply to the {alike.count === 1 ? "other cell" : `${alike.count} other cells`} with{" "}
          <Untrusted text={alike.text.length > 40 ? `${alike.text.slice(0, 40)}…` : alike.text} />
        </button>
      )}
    </td>
  ));
}
