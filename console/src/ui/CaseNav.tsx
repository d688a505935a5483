import { Link } from "wouter";
import { useCanImport } from "../api/me";
import { handOver } from "../upload";

const PAGES = [
  ["documents", "Documents"],
  ["imports", "Imports"],
] as const;

interface CaseNavProps {
  caseId: number;
  /** The name of the case, once it is known: a new import is for it. */
  name: string | undefined;
  current: (typeof PAGES)[number][0];
}

/** The pages of a case, and the way to import into it; `current` is the page that is open. */
export function CaseNav({ caseId, name, current }: CaseNavProps) {
  const canImport = useCanImport();
  return (
    <nav aria-label="Case" className="casenav">
      {PAGES.map(([path, label]) => (
        <Link
          key={path}
          href={`/cases/${caseId}/${path}`}
          className="tab"
          aria-current={path === current ? "page" : undefined}
        >
          {label}
        </Link>
      ))}
      {canImport && name !== undefined && (
        <Link href="/import" className="button end" onClick={() => handOver({ caseName: name })}>
          Import files
        </Link>
      )}
    </nav>
  );
}
