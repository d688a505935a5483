import { Link } from "wouter";

const PAGES = [
  ["documents", "Documents"],
  ["imports", "Imports"],
] as const;

/** The pages of a case; `current` is the one that is open. */
export function CaseNav({ caseId, current }: { caseId: number; current?: (typeof PAGES)[number][0] }) {
  return (
    <nav aria-label="Case" className="casenav">
      {PAGES.map(([path, name]) => (
        <Link
          key={path}
          href={`/cases/${caseId}/${path}`}
          className="tab"
          aria-current={path === current ? "page" : undefined}
        >
          {name}
        </Link>
      ))}
    </nav>
  );
}
