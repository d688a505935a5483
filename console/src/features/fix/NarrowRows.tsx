import { LongText, Untrusted } from "../../ui/Untrusted";
import { nameReason } from "../../ui/codes";
import { Reason } from "./Reason";
import { findFaults, kindOf, showRaw, type Column, type SheetRow } from "./rows";

/** The rows one below the other, to be read on a narrow screen. */
export function NarrowRows(props: { rows: readonly SheetRow[]; columns: readonly Column[]; shown: readonly number[] }) {
  const { rows, columns, shown } = props;
  return (
    <ol className="narrow">
      {rows.map((row) => (
        <li key={row.line}>
          <h2>Line {row.line.toLocaleString()}</h2>
          <Reason row={row} />
          {kindOf(row, columns.length) === "cells" ? (
            <Values row={row} columns={columns} shown={shown} />
          ) : (
            <p className="raw">
              <Untrusted text={showRaw(row).slice(0, 1_000)} />
            </p>
          )}
        </li>
      ))}
    </ol>
  );
}

function Values({ row, columns, shown }: { row: SheetRow; columns: readonly Column[]; shown: readonly number[] }) {
  const faults = findFaults(row, columns);
  return (
    <dl>
      {shown.map((at) => (
        <div key={at}>
          <dt>
            <Untrusted text={columns[at]!.name} />
          </dt>
          <dd>
            <LongText text={row.cells?.[at]} />{" "}
            {faults.has(at) && <span className="mark">▲ {nameReason(faults.get(at)![0]!.code)}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
