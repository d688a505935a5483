import { useState } from "react";
import { LongText } from "../../ui/Untrusted";
import { count } from "../../ui/values";
import { ExactTime } from "./ExactTime";
import type { Segment } from "./segments";
import { Holder, isLasting, measure } from "./words";

const STEP = 100;

/** What can be done about a segment. */
export interface SegmentActions {
  /** Absent for those who may not. */
  onEdit?: (segment: Segment) => void;
  onRemove?: (segment: Segment) => void;
  onFill?: (segment: Segment) => void;
}

/** The drawn history as a table, the latest first: periods, and between them the gaps. */
export function Periods({ segments, selected, actions }: PeriodsProps) {
  const [most, setMost] = useState(STEP);
  const rows = [...segments].reverse();
  const hidden = Math.max(rows.length - most, 0);
  return (
    <>
      <h2>Periods</h2>
      <div className="scroll" tabIndex={0} role="region" aria-label="List of periods">
        <table className="list periods">
          <thead>
            <tr>
              <th scope="col">Holder</th>
              <th scope="col">From</th>
              <th scope="col">To</th>
              <th scope="col">How long</th>
              <th scope="col">Note</th>
              <td />
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, most).map((each) => (
              <Row key={`${each.kind} ${each.from}`} segment={each} selected={selected} actions={actions} />
            ))}
          </tbody>
        </table>
      </div>
      {hidden > 0 && (
        <button type="button" onClick={() => setMost(most + STEP)}>
          Show {count(Math.min(hidden, STEP), "more row")} of {hidden.toLocaleString()}
        </button>
      )}
    </>
  );
}

interface PeriodsProps {
  segments: Segment[];
  selected: Segment | null;
  actions: SegmentActions;
}

function Row({ segment, selected, actions }: { segment: Segment } & Omit<PeriodsProps, "segments">) {
  const { kind } = segment;
  return (
    <tr className={selected === segment ? "selected" : undefined}>
      <th scope="row" className="name">
        {kind === "period" && <Holder period={segment.period} />}
        {kind === "gap" && <span className="no-holder">no record</span>}
        {kind === "unread" && <span className="quiet">not loaded</span>}
      </th>
      <td className="whole">
        <ExactTime value={kind === "period" ? segment.period.begin : segment.from} />
      </td>
      <td className="whole">
        {isLasting(segment) ? (
          kind === "gap" ? (
            "now"
          ) : (
            "still held"
          )
        ) : (
          <ExactTime value={kind === "period" ? (segment.period.end ?? segment.to) : segment.to} />
        )}
      </td>
      <td className="whole">{lengthOf(segment)}</td>
      <td className="note">{kind === "period" ? <LongText text={segment.period.note} /> : null}</td>
      <td className="whole">
        <SegmentButtons segment={segment} actions={actions} />
      </td>
    </tr>
  );
}

/** Return how long a segment is, as far as it is known. */
function lengthOf(segment: Segment): string {
  if (isLasting(segment)) return `${measure(segment)} so far`;
  if (segment.kind === "gap" && segment.isCut) return `${measure(segment)} of what is shown`;
  return measure(segment);
}

/** The buttons of a segment, for those who may use them. */
export function SegmentButtons({ segment, actions }: { segment: Segment; actions: SegmentActions }) {
  const { onEdit, onRemove, onFill } = actions;
  if (segment.kind === "gap" && onFill)
    return (
      <button type="button" onClick={() => onFill(segment)}>
        Record a period
      </button>
    );
  if (segment.kind !== "period") return null;
  return (
    <span className="joined">
      {onEdit && (
        <button type="button" onClick={() => onEdit(segment)}>
          Edit<span className="unseen"> period {segment.period.id}</span>
        </button>
      )}
      {onRemove && (
        <button type="button" onClick={() => onRemove(segment)}>
          Remove<span className="unseen"> period {segment.period.id}</span>
        </button>
      )}
    </span>
  );
}
