import { useEffect, useRef } from "react";
import { Link } from "wouter";
import { Untrusted } from "../../../ui/Untrusted";
import { hrefOf, listParts, withoutPlace, type Filters, type Part } from "../../../api/documentFilters";
import { describePart } from "./words";

/** Each filter in words, with the link to the list without it. */
export function Chips({ caseId, filters }: { caseId: number; filters: Filters }) {
  // A place in the list takes no document away.
  const parts = listParts(withoutPlace(filters));
  const element = useRef<HTMLDivElement>(null);
  const last = useRef(parts.length);
  useEffect(() => {
    // The link that was followed is gone, and the focus with it.
    if (parts.length < last.current && document.activeElement === document.body) element.current?.focus();
    last.current = parts.length;
  }, [parts.length]);
  return (
    <div ref={element} tabIndex={-1} className="chips" role="group" aria-label="Filters">
      {parts.length > 0 && (
        <ul>
          {parts.map((each) => (
            <Chip key={`${each.name} ${each.value}`} part={each} href={hrefOf(caseId, each.without)} />
          ))}
        </ul>
      )}
      {parts.length > 1 && <Link href={hrefOf(caseId, {})}>Take all filters away</Link>}
    </div>
  );
}

function Chip({ part, href }: { part: Part; href: string }) {
  return (
    <li>
      <span>
        <PartInWords part={part} />
      </span>
      <Link href={href} className="take-away">
        <span aria-hidden="true">×</span>
        <span className="unseen">
          Take away the filter: <PartInWords part={part} isLinked={false} />
        </span>
      </Link>
    </li>
  );
}

export function PartInWords({ part, isLinked = true }: { part: Part; isLinked?: boolean }) {
  const { before, value, after } = describePart(part);
  const isImport = part.name === "import" || part.name === "changed";
  return (
    <>
      {before}
      {value !== null && " "}
      {value !== null && isImport && isLinked ? (
        <Link href={`/imports/${value}`}>{value}</Link>
      ) : (
        value !== null && <Untrusted text={value} />
      )}
      {after && ` ${after}`}
    </>
  );
}
