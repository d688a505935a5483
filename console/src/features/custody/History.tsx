import { useEffect, useMemo, useRef, useState } from "react";
import { useLocation, useSearchParams } from "wouter";
import type { Schemas } from "../../api/client";
import { Failure } from "../../ui/Failure";
import { announce } from "../../ui/LiveRegion";
import { Skeleton } from "../../ui/Skeleton";
import { Untrusted } from "../../ui/Untrusted";
import { Periods, SegmentButtons, type SegmentActions } from "./Periods";
import { usePeriods } from "./queries";
import { RangeBar } from "./RangeBar";
import { around, readRange, writeRange } from "./ranges";
import { assignHues, findExtent, findGaps, sortPeriods, toSegments, type Range, type Segment } from "./segments";
import { Timeline } from "./Timeline";
import { describe, measure, nameHolder } from "./words";

interface HistoryProps {
  device: Schemas["Device"];
  now: number;
  actions: SegmentActions;
}

/** The history of a device, or a part of it: drawn, and below as a table. The part is in the address. */
export function History({ device, now, actions }: HistoryProps) {
  const [address] = useSearchParams();
  const [path, navigate] = useLocation();
  const chosen = readRange(address);
  const go = (range: Range | null) => navigate(`${path}${writeRange(range)}`, { replace: true });
  const pages = usePeriods(device.deviceId, chosen);
  const [selected, setSelected] = useState<string | null>(null);
  const { refetch } = pages;
  useAfterChange(device, refetch);
  const periods = useMemo(() => sortPeriods(pages.data?.pages.flatMap((page) => page.items) ?? []), [pages.data]);
  if (pages.isPending) return <Skeleton rows={4} />;
  if (!pages.data) return <Failure error={pages.error} again={() => void refetch()} />;
  const range = chosen ?? findExtent(periods, now);
  if (!range) return null;
  const segments = toSegments(periods, range, now, !pages.hasNextPage);
  const found = segments.find((each) => nameOf(each) === selected) ?? null;
  const earlier = pages.hasNextPage ? Math.max(device.periods - periods.length, 1) : 0;
  return (
    <>
      <RangeBar range={range} isWhole={chosen === null} onChange={go} />
      {pages.isError && <Failure error={pages.error} again={() => void refetch()} />}
      <Earlier pages={pages} count={chosen ? null : earlier} />
      <Timeline
        segments={segments}
        range={range}
        now={now}
        hues={assignHues(periods)}
        selected={found}
        onSelect={(segment) => setSelected(nameOf(segment))}
        onZoom={(part) => go(around(part))}
      />
      <Selected segment={found} actions={actions} />
      <Summary
        segments={segments}
        isWhole={chosen === null && !pages.hasNextPage}
        onShow={(part) => go(around(part))}
      />
      <Periods segments={segments} selected={found} actions={actions} />
    </>
  );
}

const nameOf = (segment: Segment) =>
  segment.kind === "period" ? `period ${segment.period.id}` : `${segment.kind} ${segment.from}`;

/** Which periods are not drawn, because they are not loaded. */
function Earlier({ pages, count }: { pages: ReturnType<typeof usePeriods>; count: number | null }) {
  const [isAll, setAll] = useState(false);
  const { hasNextPage, isFetchingNextPage, isError, fetchNextPage } = pages;
  const goesOn = isAll && hasNextPage && !isFetchingNextPage && !isError;
  useEffect(() => {
    if (goesOn) void fetchNextPage();
  }, [goesOn, fetchNextPage]);
  if (!hasNextPage) return null;
  return (
    <p className="earlier">
      {count === null ? "Earlier periods of this part are" : `${count.toLocaleString()} earlier periods are`} not drawn.{" "}
      <button type="button" disabled={isFetchingNextPage || isAll} onClick={() => void fetchNextPage()}>
        {isFetchingNextPage ? "Loading…" : "Draw 500 more"}
      </button>{" "}
      <button type="button" disabled={isAll && !isError} onClick={() => (setAll(true), void fetchNextPage())}>
        Draw all
      </button>
    </p>
  );
}

/** What was chosen in the timeline, in words, with what can be done about it. */
function Selected({ segment, actions }: { segment: Segment | null; actions: SegmentActions }) {
  if (!segment)
    return (
      <p className="quiet chosen">
        Choose a bar to see its times. A number stands for periods that are too narrow to draw; dashed, there are gaps
        among them.
      </p>
    );
  return (
    <p className="chosen" role="status">
      {segment.kind === "period" && (
        <>
          <strong>
            <Untrusted text={nameHolder(segment.period)} />
          </strong>
          ,{" "}
        </>
      )}
      {describe(segment)}. <SegmentButtons segment={segment} actions={actions} />
    </p>
  );
}

/** Whether the periods cover all that is shown, and if not, where the gaps are. */
function Summary({
  segments,
  isWhole,
  onShow,
}: {
  segments: Segment[];
  isWhole: boolean;
  onShow: (range: Range) => void;
}) {
  const gaps = findGaps(segments);
  const where = isWhole ? "the history" : "what is shown";
  if (gaps.length === 0) return <p className="quiet">There are no gaps in {where}.</p>;
  const longest = gaps.reduce((one, other) => (other.to - other.from > one.to - one.from ? other : one));
  return (
    <p>
      {gaps.length === 1
        ? `There is a gap in ${where}: `
        : `${gaps.length.toLocaleString()} gaps in ${where}; the longest: `}
      <button type="button" className="as-link" onClick={() => onShow(longest)}>
        {measure(longest)} without a record
      </button>
    </p>
  );
}

/** Read the periods again when the device says that they were changed, and have that read aloud. */
function useAfterChange(device: Schemas["Device"], refetch: () => unknown) {
  const last = useRef(device.lastChangeAt);
  useEffect(() => {
    if (last.current === device.lastChangeAt) return;
    last.current = device.lastChangeAt;
    announce("The history of the device has changed.");
    refetch();
  }, [device.lastChangeAt, refetch]);
}
