import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState, type KeyboardEvent } from "react";
import { Link, useParams } from "wouter";
import { useRefusal } from "../../api/cases";
import { useCanImport } from "../../api/me";
import { Failure } from "../../ui/Failure";
import { useKeys } from "../../ui/keys";
import { Skeleton } from "../../ui/Skeleton";
import { Untrusted } from "../../ui/Untrusted";
import { CloseQuestion } from "./detail/CloseQuestion";
import { Elsewhere, Gone, isGone } from "./detail/Gone";
import { Editor } from "./detail/Editor";
import { Family } from "./detail/Family";
import { Fields } from "./detail/Fields";
import type { Exhibit } from "./detail/fields";
import { Files } from "./detail/Files";
import { useViewerHref } from "./detail/useHref";
import { History } from "./detail/History";
import { Productions } from "./detail/Productions";
import { Properties } from "./detail/Properties";
import { useDetail } from "./detail/queries";
import { save } from "./detail/saving";
import { beginWork, endWork, getWork, hasChanges, useWork } from "./detail/work";
import "./detail/detail.css";
import "./detail/form.css";

/**
 * One document: what the case has of it, its files, family and history, and the form that changes it. Escape closes it,
 * as its button does; what was entered and not saved is asked about first.
 */
export function DocumentPanel({ exhibitId, onClose }: { exhibitId: number; onClose: () => void }) {
  const found = useDetail(exhibitId);
  const work = useWork(exhibitId);
  const caseId = Number(useParams<{ caseId?: string }>().caseId) || null;
  const heading = useRef<HTMLHeadingElement>(null);
  const queries = useQueryClient();
  const isRefused = useRefusal(caseId ?? undefined) !== null;
  const canEdit = useCanImport() === true && !isRefused;
  const [question, setQuestion] = useState<"stop" | "close" | null>(null);
  useEffect(() => takeFocus(heading.current), []);
  useEffect(() => () => dropUnchanged(exhibitId), [exhibitId]);
  const exhibit = found.data;
  const isElsewhere = exhibit !== undefined && caseId !== null && exhibit.caseId !== caseId;
  const gone = isGone(found.error) || (work !== undefined && isGone(work.error));
  const isEditing = work !== undefined && !gone && !isElsewhere && canEdit;
  const edit = () => exhibit && beginWork(exhibit);
  const isReady = exhibit !== undefined && canEdit && !gone && !isElsewhere;
  const saveAll = () => void save(exhibitId, queries);
  const leave = (how: "stop" | "close") => {
    const current = getWork(exhibitId);
    if (current && hasChanges(current) && !gone) return setQuestion(how);
    end(how);
  };
  const end = (how: "stop" | "close") => {
    endWork(exhibitId);
    setQuestion(null);
    if (how === "close") onClose();
    else heading.current?.focus();
  };
  useKeys("Document", [
    { keys: "e", does: "edit the document", run: isReady && !isEditing ? edit : null },
    { keys: "Escape", does: "close the document", run: () => leave("close") },
    { keys: "Control Enter", does: "in the form: save the changes", run: null },
  ]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.defaultPrevented || (event.target as Element).closest("dialog")) return;
    const how = event.key === "Escape" ? (isEditing ? "stop" : "close") : null;
    const isSave = event.key === "Enter" && event.ctrlKey && isEditing;
    // The key that opens the question would close it, too.
    if (how || isSave) event.preventDefault();
    if (how) leave(how);
    if (isSave) saveAll();
  };
  return (
    <aside
      className={isEditing ? "panel detail editing" : "panel detail"}
      aria-labelledby="document"
      onKeyDown={onKeyDown}
    >
      <div className="bar">
        <h2 id="document" ref={heading} tabIndex={-1} className="mono">
          {exhibit ? <Untrusted text={exhibit.controlNumber} /> : gone ? "No such document" : "Document"}
        </h2>
        <button type="button" onClick={() => leave("close")}>
          Close
        </button>
      </div>
      {found.isPending && <Skeleton rows={6} />}
      {gone && <Gone {...{ exhibitId, caseId, work, onClose }} before={exhibit ?? work?.draft.base} />}
      {found.isError && !gone && <Failure error={found.error} again={() => void found.refetch()} />}
      {isElsewhere && !gone && <Elsewhere exhibit={exhibit} onClose={onClose} />}
      {isEditing && (
        <Editor
          id={exhibitId}
          now={exhibit}
          work={work}
          heading={heading}
          onSave={saveAll}
          onStop={() => leave("stop")}
        />
      )}
      {exhibit && !isElsewhere && !gone && !isEditing && <View exhibit={exhibit} onEdit={canEdit ? edit : undefined} />}
      {question && work && (
        <CloseQuestion
          draft={work.draft}
          onStay={() => setQuestion(null)}
          onSave={() => (setQuestion(null), saveAll())}
          onDrop={() => end(question)}
        />
      )}
    </aside>
  );
}

let isReplaced = false;

/** Move the focus to a document that was opened; where the keys of the list walk from one to the next, it stays there. */
function takeFocus(heading: HTMLElement | null) {
  if (!isReplaced || !document.activeElement?.closest("[role=grid]")) heading?.focus();
  return () => {
    // True for a panel that appears at the same time.
    isReplaced = true;
    queueMicrotask(() => (isReplaced = false));
  };
}

/** A form in which nothing was entered does not come back. */
function dropUnchanged(exhibitId: number): void {
  const work = getWork(exhibitId);
  if (work && !hasChanges(work)) endWork(exhibitId);
}

function View({ exhibit, onEdit }: { exhibit: Exhibit; onEdit: (() => void) | undefined }) {
  const viewer = useViewerHref(exhibit.caseId, exhibit.id);
  return (
    <>
      <div className="bar">
        {onEdit && (
          <button type="button" aria-keyshortcuts="e" onClick={onEdit}>
            Edit
          </button>
        )}
        <Link className="button" href={viewer}>
          Open in the viewer
        </Link>
      </div>
      <Fields exhibit={exhibit} />
      <Family exhibit={exhibit} />
      <Files exhibit={exhibit} />
      <Properties properties={exhibit.properties} />
      <Productions ranges={exhibit.productionNumbers} />
      <History exhibit={exhibit} />
    </>
  );
}
