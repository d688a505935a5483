import type { ReactNode } from "react";
import { LongText } from "./Untrusted";

/** A column of a table: its heading, and what a row has there. A text is one of a file; a number is a line. */
export type Column<Row> = [heading: string, cell: (row: Row) => ReactNode | string | null];

/** A table of rows that have no id of their own. Texts are shown as text, whatever they hold. */
export function Rows<Row>({ columns, rows }: { columns: Column<Row>[]; rows: Row[] }) {
  return (
    <table className="list">
      <thead>
        <tr>
          {columns.map(([heading]) => (
            <th key={heading} scope="col" className={CLASSES[heading]}>
              {heading}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={index}>
            {columns.map(([heading, cell]) => (
              <td key={heading} className={CLASSES[heading]}>
                {show(cell(row))}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A line is a number, and a control number stays on one line if it can. */
const CLASSES: Record<string, string> = { Line: "num", Document: "name" };

function show(cell: ReactNode | string | null): ReactNode {
  return typeof cell === "string" || cell === null ? <LongText text={cell} /> : cell;
}

/** The line of a finding, from 1; 0 is the whole file. */
export const showLine = (line: number): ReactNode => <>{line === 0 ? "file" : line.toLocaleString()}</>;
