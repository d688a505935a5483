import type { ReactNode } from "react";
import { Untrusted } from "../../ui/Untrusted";
import { ExactTime } from "./ExactTime";
import type { Period, Segment } from "./segments";
import { formatLocal, formatSpan, formatUtc } from "./times";

/** Who holds a device in a period, as text. */
export const nameHolder = (period: { custodianId: number | null; custodian: string | null }): string =>
  period.custodianId === null ? "holder not recorded" : (period.custodian ?? `custodian ${period.custodianId}`);

export const Holder = ({ period }: { period: { custodianId: number | null; custodian: string | null } }) =>
  period.custodianId === null ? <span className="quiet">not recorded</span> : <Untrusted text={nameHolder(period)} />;

/** Return how long a gap is, such as `2 h 10 min`; of one that may be longer, as far as it is known. */
export const measure = (segment: Segment): string => formatSpan(segment.to - segment.from);

/** Return a segment in words, without the name of the holder. */
export function describe(segment: Segment): string {
  const times = `from ${formatLocal(segment.from)} to ${isLasting(segment) ? "now" : formatLocal(segment.to)}`;
  if (segment.kind === "gap") return `${measure(segment)} without a record, ${times}`;
  if (segment.kind === "unread") return `periods that are not loaded, ${times}`;
  return `${measure(segment)}, ${times}`;
}

/** Whether a segment goes on now. */
export const isLasting = (segment: Segment): boolean =>
  segment.kind === "period" ? segment.isOpen : segment.kind === "gap" && segment.isLasting;

/** Return the tooltip of a segment: its times in UTC. */
export const titleOf = (segment: Segment): string =>
  `${formatUtc(segment.from)} to ${isLasting(segment) ? "now" : formatUtc(segment.to)}`;

/** The times of a period. */
export const Times = ({ period }: { period: Pick<Period, "begin" | "end"> }): ReactNode => (
  <>
    from <ExactTime value={period.begin} />{" "}
    {period.end === null ? (
      "on"
    ) : (
      <>
        to <ExactTime value={period.end} />
      </>
    )}
  </>
);
