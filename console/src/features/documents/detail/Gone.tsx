import { Link } from "wouter";
import { ApiError } from "../../../api/client";
import { Untrusted } from "../../../ui/Untrusted";
import { countChanges } from "./draft";
import type { Exhibit } from "./fields";
import { Summary } from "./Summary";
import { endWork, type Work } from "./work";

export const isGone = (error: unknown): boolean => error instanceof ApiError && error.status === 404;

interface GoneProps {
  exhibitId: number;
  caseId: number | null;
  /** The document as it was, if this window has seen it. */
  before: Exhibit | undefined;
  work: Work | undefined;
  onClose: () => void;
}

/** What stands in the place of a document that is not there, or not any more. */
export function Gone({ exhibitId, caseId, before, work, onClose }: GoneProps) {
  const imports = before?.caseId ?? caseId;
  return (
    <>
      {before ? (
        <p>
          <Untrusted text={before.controlNumber} /> was removed from the case while it was open: the undo of an import
          removes the documents that it has added. It came from{" "}
          <Link href={`/imports/${before.importId}`}>import {before.importId}</Link>.
        </p>
      ) : (
        <p>
          The link names document {exhibitId}, which is not in a case that you may see. The undo of its import may have
          removed it; if it is in another case, ask your administrator for access.
        </p>
      )}
      {work && countChanges(work.draft) > 0 && (
        <>
          <h3>What you have entered</h3>
          <p>It cannot be saved, since the document is gone. It stays here until you drop it.</p>
          <Summary draft={work.draft} />
          <button type="button" onClick={() => endWork(exhibitId)}>
            Drop what I have entered
          </button>
        </>
      )}
      <p className="bar">
        <button type="button" onClick={onClose}>
          Back to the documents
        </button>
        {imports !== null && <Link href={`/cases/${imports}/imports`}>Imports of the case</Link>}
      </p>
    </>
  );
}

/** A document of another case than the one whose list is open. */
export function Elsewhere({ exhibit, onClose }: { exhibit: Exhibit; onClose: () => void }) {
  return (
    <>
      <p>
        This document is in another case: <Untrusted text={exhibit.case} />.
      </p>
      <p className="bar">
        <Link className="button" href={`/cases/${exhibit.caseId}/documents?open=${exhibit.id}`}>
          Open it there
        </Link>
        <button type="button" onClick={onClose}>
          Back to the documents
        </button>
      </p>
    </>
  );
}
