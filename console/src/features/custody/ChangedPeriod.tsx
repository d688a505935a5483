import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Schemas } from "../../api/client";
import { Failure } from "../../ui/Failure";
import { LongText } from "../../ui/Untrusted";
import { ExactTime } from "./ExactTime";
import { readPeriod } from "./queries";
import type { Period } from "./segments";
import { Holder } from "./words";

interface ChangedPeriodProps {
  /** The period as it was when the edit began. */
  base: Period;
  patch: Schemas["PeriodPatch"];
  /** The name of the holder that the patch chooses. */
  holder: string | null;
  onSave: (theirs: Period) => void;
  onTake: (theirs: Period) => void;
  onRecord: () => void;
}

/** Another user has changed the period meanwhile: what it was, what it is, and what it would be. */
export function ChangedPeriod({ base, patch, holder, onSave, onTake, onRecord }: ChangedPeriodProps) {
  const theirs = useQuery({
    queryKey: ["custody", base.deviceId, "period", base.id],
    // What an earlier refusal has read is not what is stored now.
    staleTime: 0,
    gcTime: 0,
    queryFn: () => readPeriod(base.id),
  });
  if (theirs.isError) return <Failure error={theirs.error} again={() => void theirs.refetch()} />;
  if (theirs.isPending) return <p role="status">Reading what is stored now…</p>;
  if (theirs.data === null)
    return (
      <div className="notice bad" role="alert">
        <strong>Not saved: the period was removed meanwhile</strong>
        <p>The changes below the history say by whom. What you entered can be recorded as a new period.</p>
        <button type="button" onClick={onRecord}>
          Record it as a new period
        </button>
      </div>
    );
  const now = theirs.data;
  return (
    <div className="notice bad" role="alert">
      <strong>Not saved: another user has changed the period meanwhile</strong>
      <Versions base={base} theirs={now} yours={merge(now, patch, holder)} />
      <div className="bar">
        <button type="button" onClick={() => onSave(now)}>
          Save yours over it
        </button>
        <button type="button" onClick={() => onTake(now)}>
          Drop yours, and go on with what is stored
        </button>
      </div>
    </div>
  );
}

function merge(now: Period, patch: Schemas["PeriodPatch"], holder: string | null): Period {
  const merged = { ...now, ...patch } as Period;
  return "custodianId" in patch ? { ...merged, custodian: holder } : merged;
}

function Versions({ base, theirs, yours }: { base: Period; theirs: Period; yours: Period }) {
  const rows: [string, (period: Period) => ReactNode][] = [
    ["Begin", (each) => <ExactTime value={each.begin} />],
    ["End", (each) => (each.end === null ? "still held" : <ExactTime value={each.end} />)],
    ["Holder", (each) => <Holder period={each} />],
    ["Note", (each) => <LongText text={each.note} />],
  ];
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Versions of the period">
      <table className="list">
        <thead>
          <tr>
            <td />
            <th scope="col">When you began</th>
            <th scope="col">Stored now</th>
            <th scope="col">After saving yours</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([label, show]) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              <td>{show(base)}</td>
              <td>{show(theirs)}</td>
              <td>{show(yours)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
