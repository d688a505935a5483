import { useEffect, useRef, useState } from "react";
import { Link } from "wouter";
import type { Schemas } from "../../api/client";
import { Untrusted } from "../../ui/Untrusted";

type ImagePage = Schemas["ImagePage"];

const ROW = 28;
const BEYOND = 8;

interface PageListProps {
  count: number;
  current: number;
  /** Pages by their place in the list, as far as they are known. */
  known: readonly ImagePage[];
  hrefOf: (page: number) => string;
  /** Called with the last page that is in sight. */
  onSight: (page: number) => void;
}

/** All pages of the document, of which only those in sight are elements. */
export function PageList({ count, current, known, hrefOf, onSight }: PageListProps) {
  const area = useRef<HTMLElement>(null);
  const [[first, last], setSight] = useState([0, 40]);
  useEffect(() => {
    const element = area.current!;
    const measure = () => {
      const top = Math.floor(element.scrollTop / ROW);
      setSight([Math.max(0, top - BEYOND), Math.min(count, top + Math.ceil(element.clientHeight / ROW) + BEYOND)]);
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener("scroll", measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", measure);
    };
  }, [count]);
  useEffect(() => onSight(Math.min(last, count)), [last, count, onSight]);
  useEffect(() => {
    const element = area.current!;
    const top = (current - 1) * ROW;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + ROW > element.scrollTop + element.clientHeight) element.scrollTop = top + ROW - element.clientHeight;
  }, [current]);
  const rows = Array.from({ length: Math.max(0, Math.min(last, count) - first) }, (_, index) => first + index);
  return (
    <nav className="page-list" aria-label="Pages" ref={area}>
      <ol style={{ height: count * ROW }}>
        {rows.map((index) => (
          <li key={index} style={{ top: index * ROW }} aria-setsize={count} aria-posinset={index + 1}>
            <Link
              href={hrefOf(index + 1)}
              aria-current={index + 1 === current ? "page" : undefined}
              tabIndex={index + 1 === current ? 0 : -1}
              replace
            >
              <span className="num">{(index + 1).toLocaleString()}</span>
              <Name page={known[index]} />
            </Link>
          </li>
        ))}
      </ol>
    </nav>
  );
}

function Name({ page }: { page: ImagePage | undefined }) {
  if (!page) return null;
  return (
    <span className="mono">
      <Untrusted text={page.imageKey} />
      {page.volumeId !== null && page.file === null && <span className="lacking"> missing</span>}
    </span>
  );
}
