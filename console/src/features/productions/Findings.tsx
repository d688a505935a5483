import type { ReactNode } from "react";
import { Link } from "wouter";
import type { Schemas } from "../../api/client";
import { toWords } from "../../ui/messages";
import { Untrusted } from "../../ui/Untrusted";
import { count } from "../../ui/values";

type Finding = Schemas["ProductionFinding"];

const WORDS: Partial<Record<Finding["code"], string>> = {
  INCOMPLETE_FAMILY: "families are not complete",
  PAGE_COUNT: "other number of pages than stated",
  BATES_OVERLAP: "numbers that documents have already",
  PRIVILEGED_TAG: "tagged as privileged",
  FILE_MISSING: "files are missing",
  IMAGE_NOT_WHOLE: "a part of an image file",
  IMAGE_MIXED: "image files are mixed",
  IMAGE_UNREADABLE: "images cannot be read",
};
const NAMED = 10;

interface FindingsProps {
  caseId: number;
  findings: Finding[];
  /** What lifts a finding, beside it. */
  children?: (finding: Finding) => ReactNode;
}

/** What is noticed about the documents, what refuses them first; each document is a link. */
export function Findings({ caseId, findings, children }: FindingsProps) {
  const sorted = [...findings].sort((one, other) => Number(other.blocks) - Number(one.blocks));
  return (
    <ul className="findings">
      {sorted.map((each) => (
        <li key={each.code} className={each.blocks ? "notice bad" : "notice warn"}>
          <p>
            <strong>{each.blocks ? "Refused" : "Warning"}</strong> · {count(each.count, "document")}:{" "}
            {WORDS[each.code] ?? each.code.toLowerCase().replaceAll("_", " ")}{" "}
            <span className="quiet">{each.code}</span>
          </p>
          <p>{toWords(each.message)}</p>
          <Named caseId={caseId} finding={each} />
          {children?.(each)}
        </li>
      ))}
    </ul>
  );
}

/** The first documents of a finding. Those removed since have no control number; then no name fits its id. */
function Named({ caseId, finding }: { caseId: number; finding: Finding }) {
  const { exhibitIds, controlNumbers } = finding;
  if (exhibitIds.length !== controlNumbers.length) return null;
  const [first, others] = [exhibitIds.slice(0, NAMED), exhibitIds.slice(NAMED)];
  const link = (id: number, index: number) => (
    <li key={id}>
      <Link href={`/cases/${caseId}/documents?open=${id}`}>
        <Untrusted text={controlNumbers[index]} />
      </Link>
    </li>
  );
  const unnamed = finding.count - exhibitIds.length;
  return (
    <>
      <ul className="names">{first.map(link)}</ul>
      {others.length > 0 && (
        <details>
          <summary>{count(finding.count - NAMED, "more document")}</summary>
          <ul className="names">{others.map((id, index) => link(id, index + NAMED))}</ul>
          {unnamed > 0 && <p className="quiet">and {count(unnamed, "document")} that are not listed</p>}
        </details>
      )}
    </>
  );
}
