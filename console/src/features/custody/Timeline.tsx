import { useEffect, useRef, useState, type KeyboardEvent } from "react";
import { Untrusted } from "../../ui/Untrusted";
import { findTicks, layOut, NARROWEST, toPixels, type Bar, type Drawn, type Run } from "./layout";
import type { Range, Segment } from "./segments";
import { formatLocal, formatUtc } from "./times";
import { describe, measure, nameHolder, titleOf } from "./words";

interface TimelineProps {
  segments: Segment[];
  range: Range;
  now: number;
  hues: Map<number, number>;
  selected: Segment | null;
  onSelect: (segment: Segment) => void;
  onZoom: (range: Range) => void;
}

/** Who held the device when, drawn. One part is in the order of the Tab key; the arrow keys lead to the others. */
export function Timeline(props: TimelineProps) {
  const { segments, range, now } = props;
  const [frame, width] = useWidth();
  const drawn = width > 0 ? layOut(segments, range, width) : [];
  const { current, onKeyDown, onFocus } = useRoving(frame, drawn.length);
  return (
    <div className="timeline" role="group" aria-label="Timeline" onKeyDown={onKeyDown} onFocus={onFocus}>
      <div className="lanes" ref={frame}>
        {drawn.map((each, index) => (
          <Part key={keyOf(each)} drawn={each} isCurrent={index === current} {...props} />
        ))}
        {now > range.from && now <= range.to && (
          <span className="now" style={{ left: toPixels(now, range, width) }} aria-hidden="true" />
        )}
        {(width > 0 ? findTicks(range, width) : []).map(({ at, label }) => (
          <span key={at} className="tick" style={{ left: toPixels(at, range, width) }} title={formatUtc(at)}>
            {toPixels(at, range, width) < width - 60 && label}
          </span>
        ))}
      </div>
    </div>
  );
}

const keyOf = (drawn: Drawn) =>
  drawn.kind === "bar" ? `${drawn.segment.kind} ${drawn.segment.from}` : `run ${drawn.from}`;

type PartProps = TimelineProps & { isCurrent: boolean };

function Part({ drawn, ...props }: PartProps & { drawn: Drawn }) {
  if (drawn.kind === "bar") return <BarOf bar={drawn} {...props} />;
  return <RunOf run={drawn} {...props} />;
}

function BarOf({ bar, hues, selected, onSelect, isCurrent }: PartProps & { bar: Bar }) {
  const { segment } = bar;
  return (
    <button
      type="button"
      className={`part ${classOf(segment, hues)}`}
      style={{ left: bar.left, width: bar.width }}
      title={titleOf(segment)}
      tabIndex={isCurrent ? 0 : -1}
      aria-pressed={selected !== null && isSame(selected, segment)}
      onClick={() => onSelect(segment)}
    >
      <span className="text">
        <Label segment={segment} />
      </span>
      <span className="unseen">{segment.kind === "period" ? `, ${describe(segment)}` : describe(segment)}</span>
    </button>
  );
}

function Label({ segment }: { segment: Segment }) {
  if (segment.kind === "gap") return <span aria-hidden="true">{measure(segment)} without a record</span>;
  if (segment.kind === "unread") return <span aria-hidden="true">not loaded</span>;
  return <Untrusted text={nameHolder(segment.period)} />;
}

/** Segments that are too narrow to be drawn one by one: how many, and a way to see them. */
function RunOf({ run, hues, selected, onSelect, onZoom, isCurrent }: PartProps & { run: Run }) {
  const [only] = run.segments;
  const isOne = run.segments.length === 1;
  return (
    <>
      <span
        className={`part few ${isOne ? classOf(only!, hues) : run.gaps > 0 ? "dense with-gaps" : "dense"}`}
        style={{ left: run.left, width: Math.max(run.width, 2) }}
        aria-hidden="true"
      />
      <button
        type="button"
        className={run.gaps > 0 ? "mark with-gaps" : "mark"}
        style={{ left: run.left + run.width / 2 - NARROWEST / 2, width: NARROWEST }}
        title={isOne ? titleOf(only!) : `${formatUtc(run.from)} to ${formatUtc(run.to)}`}
        tabIndex={isCurrent ? 0 : -1}
        aria-pressed={isOne ? selected !== null && isSame(selected, only!) : undefined}
        onClick={() => (isOne ? onSelect(only!) : onZoom(run))}
      >
        <span aria-hidden="true">{run.periods === 0 ? "gap" : formatCompact(run.periods)}</span>
        <span className="unseen">{isOne ? <One segment={only!} /> : describeRun(run)}</span>
      </button>
    </>
  );
}

const One = ({ segment }: { segment: Segment }) => (
  <>
    {segment.kind === "period" && <>{nameHolder(segment.period)}, </>}
    {describe(segment)}
  </>
);

const compact = new Intl.NumberFormat(undefined, { notation: "compact" });
const formatCompact = (value: number) => compact.format(value);

function describeRun(run: Run): string {
  const gaps = run.gaps === 0 ? "" : run.gaps === 1 ? " and a gap" : ` and ${run.gaps.toLocaleString()} gaps`;
  const more = `${run.periods.toLocaleString()} more ${run.periods === 1 ? "period" : "periods"}${gaps}`;
  return `${more} between ${formatLocal(run.from)} and ${formatLocal(run.to)}: show them`;
}

const isSame = (one: Segment, other: Segment) =>
  one.kind === "period" && other.kind === "period"
    ? one.period.id === other.period.id
    : one.kind === other.kind && one.from === other.from;

function classOf(segment: Segment, hues: Map<number, number>): string {
  if (segment.kind !== "period") return segment.kind;
  const { custodianId } = segment.period;
  const hue = custodianId === null ? "hue-none" : `hue-${hues.get(custodianId) ?? 0}`;
  return `${hue}${segment.isOpen ? " open" : ""}`;
}

/** The element, and its width in pixels as it is now. */
function useWidth() {
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const watch = new ResizeObserver(([entry]) => setWidth(entry!.contentRect.width));
    watch.observe(frame.current!);
    return () => watch.disconnect();
  }, []);
  return [frame, width] as const;
}

function useRoving(frame: { current: HTMLElement | null }, count: number) {
  const [focused, setFocused] = useState<number | null>(null);
  const current = Math.min(focused ?? count - 1, count - 1);
  const buttons = () => [...(frame.current?.querySelectorAll("button") ?? [])];
  const onKeyDown = (event: KeyboardEvent) => {
    const keys: Record<string, number> = { ArrowLeft: current - 1, ArrowRight: current + 1, Home: 0, End: count - 1 };
    const next = keys[event.key];
    if (next === undefined) return;
    event.preventDefault();
    buttons()[Math.min(Math.max(next, 0), count - 1)]?.focus();
  };
  const onFocus = (event: { target: EventTarget }) => {
    const index = buttons().indexOf(event.target as HTMLButtonElement);
    if (index >= 0) setFocused(index);
  };
  return { current, onKeyDown, onFocus };
}
