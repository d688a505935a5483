import { useEffect, useLayoutEffect, useRef, useSyncExternalStore, type KeyboardEvent, type ReactNode } from "react";
import type { Scroller } from "./virtual";

/** Rows drawn above and below those in view. */
const AROUND = 14;
const SETTLE_MS = 160;

interface GridProps {
  label: string;
  /** The cells of the header. */
  header: ReactNode;
  scroller: Scroller;
  /** How many rows there are; null if that is not known. */
  count: number | null;
  /** A row at a position, which is `GridRow` with its cells. */
  row: (index: number) => ReactNode;
  /** The id of the element of the row that keys act on, if it is drawn. */
  active: string | undefined;
  onKeyDown: (event: KeyboardEvent) => void;
}

/** A table of rows of equal height, of which only those in view are in the page: one stop of the Tab key. */
export function Grid({ label, header, scroller, count, row, active, onKeyDown }: GridProps) {
  const box = useRef<HTMLDivElement>(null);
  useSyncExternalStore(scroller.subscribe, scroller.getVersion);
  useScrolling(box, scroller);
  const [first, last] = scroller.rows;
  const [begin, end] = [Math.max(first - AROUND, 0), last + AROUND];
  const most = Math.round(scroller.total) - 1;
  const drawn = Array.from({ length: Math.max(Math.min(end, most) - begin + 1, 0) }, (_, at) => begin + at);
  return (
    <div
      ref={box}
      role="grid"
      className="grid"
      tabIndex={0}
      aria-label={label}
      aria-rowcount={count === null ? -1 : count + 1}
      aria-multiselectable="true"
      aria-activedescendant={active}
      onKeyDown={onKeyDown}
    >
      <div role="rowgroup" className="grid-head">
        <div role="row" aria-rowindex={1} className="grid-row">
          {header}
        </div>
      </div>
      <div role="rowgroup" className="grid-body" style={{ height: scroller.height }}>
        {drawn.map(row)}
      </div>
    </div>
  );
}

interface GridRowProps {
  id: string;
  index: number;
  top: number;
  isChosen: boolean | undefined;
  className: string;
  children: ReactNode;
  onClick?: (event: React.MouseEvent) => void;
}

export function GridRow({ id, index, top, isChosen, className, children, onClick }: GridRowProps) {
  return (
    <div
      role="row"
      id={id}
      aria-rowindex={index + 2}
      aria-selected={isChosen}
      className={`grid-row ${className}`}
      style={{ top }}
      onClick={onClick}
    >
      {children}
    </div>
  );
}

/** Keep the element and the scroller where each other is. */
function useScrolling(box: React.RefObject<HTMLDivElement | null>, scroller: Scroller) {
  useEffect(() => {
    const element = box.current!;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const follow = () => {
      scroller.scroll(element.scrollTop);
      clearTimeout(timer);
      timer = setTimeout(() => scroller.settle(), SETTLE_MS);
    };
    const measure = () => {
      const head = element.querySelector<HTMLElement>(".grid-head")!.offsetHeight;
      scroller.resize(scroller.total, Math.max(element.clientHeight - head, 0));
    };
    measure();
    element.addEventListener("scroll", follow, { passive: true });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => {
      element.removeEventListener("scroll", follow);
      observer.disconnect();
      clearTimeout(timer);
    };
  }, [box, scroller]);
  useLayoutEffect(() => {
    if (box.current && Math.abs(box.current.scrollTop - scroller.scrollTop) >= 1)
      box.current.scrollTop = scroller.scrollTop;
  });
}
