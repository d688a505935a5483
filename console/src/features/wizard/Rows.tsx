import type { Schemas } from "../../api/client";
import { nameReason } from "../../ui/codes";
import { Untrusted } from "../../ui/Untrusted";
import { formatBytes } from "../../ui/values";
import { count } from "../../ui/values";

const SHOWN_COLUMNS = 60;
const SHOWN_CHARACTERS = 100;

export const cut = (text: string, most = SHOWN_CHARACTERS) => (text.length > most ? `${text.slice(0, most)}…` : text);

/** The first rows of the file as they are read now. */
export function Rows({ preview }: { preview: Schemas["ImportPreview"] }) {
  const names = preview.images?.columns ?? preview.columns.map((each) => each.name);
  const shown = names.slice(0, SHOWN_COLUMNS);
  if (preview.rows.length === 0) return <p>The file has no rows below its header.</p>;
  return (
    <>
      <div className="scroll rows" tabIndex={0} role="region" aria-label="The first rows of the file">
        <table className="list sheet">
          <thead>
            <tr>
              <th scope="col" className="num">
                Line
              </th>
              {shown.map((name, index) => (
                <th scope="col" key={index}>
                  <Untrusted text={cut(name, 40)} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {preview.rows.map((row) => (
              <tr key={row.line} className={row.codes.length ? "faulty" : undefined}>
                <th scope="row" className="num">
                  {row.line.toLocaleString("en-US")}
                </th>
                <Cells row={row} columns={shown.length} />
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="quiet">
        {preview.rows.length === 1 ? "The first row" : `The first ${count(preview.rows.length, "row")}`}
        {names.length > SHOWN_COLUMNS &&
          `, the first ${SHOWN_COLUMNS} of ${preview.columnCount.toLocaleString("en-US")} columns`}
        {preview.provisional &&
          `, read from the first ${formatBytes(preview.bytesRead)} of ${formatBytes(preview.size)}`}
        {preview.mayChange.length > 0 && `. The rest of the file can still change: ${preview.mayChange.join(", ")}`}.
      </p>
    </>
  );
}

function Cells({ row, columns }: { row: Schemas["PreviewRow"]; columns: number }) {
  if (row.cells === null)
    return <td colSpan={columns}>The quoting of this row is damaged: {row.codes.map(nameReason).join(", ")}</td>;
  return Array.from({ length: columns }, (_, index) => (
    <td key={index}>
      {row.cells![index] === undefined ? null : <Untrusted text={cut(row.cells![index]!)} />}
      {index === 0 && row.codes.length > 0 && <span className="mark"> {row.codes.map(nameReason).join(", ")}</span>}
    </td>
  ));
}
