import { Link, useLocation } from "wouter";
import type { Filters } from "../../api/documentFilters";
import { useNeighbours } from "./queries";
import { useViewerKeys } from "./useViewerKeys";

interface NeighboursProps {
  caseId: number;
  controlNumber: string | undefined;
  filters: Filters;
  /** What the addresses of all documents of the list have: its filters, and the tab. */
  kept: URLSearchParams;
}

/** The documents before and after this one in the list that it was opened from. */
export function Neighbours({ caseId, controlNumber, filters, kept }: NeighboursProps) {
  const [, navigate] = useLocation();
  const neighbours = useNeighbours(caseId, controlNumber, filters);
  const hrefOf = (document: { id: number } | null | undefined) =>
    document && `/cases/${caseId}/documents/${document.id}${kept.size > 0 ? `?${kept}` : ""}`;
  const [previous, next] = [hrefOf(neighbours.data?.previous), hrefOf(neighbours.data?.next)];
  useViewerKeys({
    j: next ? () => navigate(next) : undefined,
    k: previous ? () => navigate(previous) : undefined,
  });
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <nav className="bar neighbours" aria-label="Documents">
      <Step href={previous} isKnown={neighbours.isSuccess} none="First document">
        Previous document
      </Step>
      <Step href={next} isKnown={neighbours.isSuccess} none="Last document">
        Next document
      </Step>
      {neighbours.isError && <span className="quiet">The documents beside it could not be found.</span>}
      {isFiltered && <span className="quiet">of the filtered list</span>}
    </nav>
  );
}

interface StepProps {
  href: string | null | undefined;
  isKnown: boolean;
  none: string;
  children: string;
}

function Step({ href, isKnown, none, children }: StepProps) {
  if (!href) return <span className="quiet">{isKnown ? none : children}</span>;
  return (
    <Link href={href} className="button">
      {children}
    </Link>
  );
}
