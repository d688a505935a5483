import type { Schemas } from "../../api/client";
import { Dialog } from "../../ui/Dialog";
import { Failure } from "../../ui/Failure";
import { Skeleton } from "../../ui/Skeleton";
import { Untrusted } from "../../ui/Untrusted";
import type { Cells } from "./cells";
import { useDocument } from "./queries";
import { findKey, type Column, type SheetRow } from "./rows";
import { hasOtherValue, readStored } from "./stored";

interface Props {
  caseId: number;
  row: SheetRow;
  cells: Cells;
  columns: readonly Column[];
  /** Given if the row may be imported over the version of the document that is shown. */
  onVersion?: (version: number) => void;
  /** Given if the row can be left out. */
  onOut?: () => void;
  onClose: () => void;
}

/** What the case has and what the file says, column by column. */
export function Compare(props: Props) {
  const id = (props.cells[findKey(props.columns)] ?? "").trim();
  const found = useDocument(props.caseId, id);
  return (
    <Dialog title={`Line ${props.row.line} and the case`} open onClose={props.onClose}>
      {id === "" && <p>The row has no id, so there is nothing to compare it with.</p>}
      {found.isLoading && <Skeleton rows={4} />}
      {found.isError && <Failure error={found.error} again={() => void found.refetch()} />}
      {found.data === null && (
        <p>
          The case has no document <Untrusted text={id} /> now. Import the row again as it is.
        </p>
      )}
      {found.data && <Values {...props} stored={found.data} />}
      <div className="bar">
        {found.data && props.onVersion && (
          <button type="button" className="primary" onClick={() => props.onVersion!(found.data!.version)}>
            Import this row over version {found.data.version}
          </button>
        )}
        {found.data && props.onOut && (
          <button type="button" onClick={props.onOut}>
            The case is right: leave line {props.row.line} out
          </button>
        )}
        <button type="button" onClick={props.onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

function Values({ cells, columns, stored }: Props & { stored: Schemas["Exhibit"] }) {
  const rows = columns.map((column, at) => {
    const [here, there] = [cells[at] ?? "", readStored(stored, column)];
    return { column, here, there, isOther: hasOtherValue(here, there, column) };
  });
  const others = rows.filter(({ isOther }) => isOther);
  return (
    <>
      <p>
        {others.length === 0
          ? "No column that can be compared here differs."
          : `${others.length.toLocaleString()} of ${columns.length.toLocaleString()} columns ${others.length === 1 ? "differs" : "differ"}.`}{" "}
        The document was imported by import {stored.importId}, line {stored.line}, and has version {stored.version}.
      </p>
      <div className="scroll compare" role="region" aria-label="Values" tabIndex={0}>
        <table className="list">
          <thead>
            <tr>
              <th scope="col">Column</th>
              <th scope="col">The file says</th>
              <th scope="col">The case has</th>
            </tr>
          </thead>
          <tbody>
            {[...others, ...rows.filter(({ isOther }) => !isOther)].map(({ column, here, there, isOther }) => (
              <tr key={column.number}>
                <th scope="row">
                  <Untrusted text={column.name} /> {isOther && <span className="mark">▲ differs</span>}
                </th>
                <td>
                  <Untrusted text={here.slice(0, 2_000)} />
                </td>
                <td>
                  {there === null ? (
                    <em className="quiet">not shown here</em>
                  ) : (
                    <Untrusted text={there.slice(0, 2_000)} />
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
