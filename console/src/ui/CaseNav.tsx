import { Link } from "wouter";
import { useCase } from "../api/cases";
import { useMe } from "../api/me";
import { handOver } from "../upload";
import { CaseBanner } from "./CaseState";

const PAGES = [
  ["documents", "Documents"],
  ["imports", "Imports"],
  ["productions", "Productions"],
  ["activity", "Activity"],
  ["settings", "Settings"],
] as const;

interface CaseNavProps {
  caseId: number;
  /** The name of the case, once it is known: a new import is for it. */
  name: string | undefined;
  current: (typeof PAGES)[number][0];
}

/** The pages of a case, the way to import into it, and what its state means; `current` is the page that is open. */
export function CaseNav({ caseId, name, current }: CaseNavProps) {
  const role = useMe().data?.role;
  const found = useCase(caseId).data;
  const canImport = found?.status === "open" && (role === "editor" || role === "admin");
  return (
    <>
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
      {found && <CaseBanner of={found} />}
    </>
  );
}
