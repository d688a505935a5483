import { Link } from "wouter";
import { toWords, withoutLine } from "../../ui/messages";
import { Untrusted } from "../../ui/Untrusted";
import { adviseOn, isComparable, isPlain, liesInCase, nameReason } from "../../ui/codes";
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
          {!isPlain(error.code) && <Message text={toWords(withoutLine(error.message, row.line))} />}
          <p>{adviseOn(error.code)}</p>
        </div>
      ))}
    </>
  );
}

const LONG = 130;

/** What the import says of the row; of a long message the beginning, until it is opened. */
function Message({ text }: { text: string }) {
  if (text.length <= LONG)
    return (
      <span className="quiet">
        <Untrusted text={text} />
      </span>
    );
  return (
    <details className="quiet">
      <summary>
        <Untrusted text={`${text.slice(0, LONG - 40)}…`} />
      </summary>
      <Untrusted text={text} />
    </details>
  );
}

interface ChoicesProps {
  row: SheetRow;
  change: Change | undefined;
  canLoad: boolean;
  onAsIs: (isAsIs: boolean) => void;
  onCompare: () => void;
}

/** What can be done with the whole row, besides leaving it out. */
export function Choices({ row, change, canLoad, ...on }: ChoicesProps) {
  const codes = row.errors.map((error) => error.code);
  return (
    <div className="choices">
      {canLoad && codes.every(liesInCase) && (
        <label>
          <input
            type="checkbox"
            checked={change?.isAsIs ?? false}
            onChange={(event) => on.onAsIs(event.target.checked)}
          />{" "}
          import again as it is
        </label>
      )}
      {codes.some(isComparable) && row.cells && (
        <button type="button" className="small" onClick={on.onCompare}>
          Compare with the case
        </button>
      )}
      {change?.version != null && <span className="note">replaces version {change.version}</span>}
    </div>
  );
}

/** Another request has the line: what the server says, and what lifts it. */
export function Refused(props: { message: string; onDrop: () => void; onSendAgain: () => void }) {
  return (
    <div className="notice bad" role="alert">
      <strong>Not imported</strong>
      <p>
        <Untrusted text={props.message} />
      </p>
      <p>Look at what the other correction has imported. If that is right, drop what you entered here.</p>
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
