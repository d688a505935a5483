import { Link } from "wouter";
import { Untrusted } from "../../ui/Untrusted";
import { adviseOn, isComparable, liesInCase, nameReason } from "./codes";
import type { Change } from "./draft";
import type { SheetRow } from "./rows";

/** Why a row was rejected, in words, and what to do about it. */
export function Reason({ row }: { row: SheetRow }) {
  return (
    <>
      {row.rejectedBy !== null && (
        <p className="mark">
          rejected again by <Link href={`/imports/${row.rejectedBy}`}>import {row.rejectedBy}</Link>
        </p>
      )}
      {row.errors.map((error, index) => (
        <div key={index} className="why">
          <strong title={error.code}>{nameReason(error.code)}</strong>{" "}
          <span className="quiet">
            <Untrusted text={error.message} />
          </span>
          <p>{adviseOn(error.code)}</p>
        </div>
      ))}
    </>
  );
}

interface ChoicesProps {
  row: SheetRow;
  change: Change | undefined;
  isOut: boolean;
  canLoad: boolean;
  onOut: (isOut: boolean) => void;
  onAsIs: (isAsIs: boolean) => void;
  onCompare: () => void;
}

/** What can be done with the whole row. */
export function Choices({ row, change, isOut, canLoad, ...on }: ChoicesProps) {
  const codes = row.errors.map((error) => error.code);
  return (
    <div className="choices">
      <label>
        <input type="checkbox" checked={isOut} onChange={(event) => on.onOut(event.target.checked)} /> leave out
      </label>
      {canLoad && !isOut && codes.every(liesInCase) && (
        <label>
          <input
            type="checkbox"
            checked={change?.isAsIs ?? false}
            onChange={(event) => on.onAsIs(event.target.checked)}
          />{" "}
          load again as it is
        </label>
      )}
      {codes.some(isComparable) && row.cells && (
        <button type="button" className="small" onClick={on.onCompare}>
          Compare with the case
        </button>
      )}
      {change?.version != null && <span className="note">loads over version {change.version}</span>}
    </div>
  );
}

/** Another request has the line: what the server says, and what lifts it. */
export function Refused(props: { message: string; onDrop: () => void; onSendAgain: () => void }) {
  return (
    <div className="notice bad" role="alert">
      <strong>Not loaded</strong>
      <p>
        <Untrusted text={props.message} />
      </p>
      <p>Look at what the other correction has loaded. If that is right, drop what you entered here.</p>
      <div className="bar">
        <button type="button" onClick={props.onDrop}>
          Drop my change of this line
        </button>
        <button type="button" onClick={props.onSendAgain}>
          Send it with the next rows
        </button>
      </div>
    </div>
  );
}
