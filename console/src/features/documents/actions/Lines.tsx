import { useState } from "react";
import { Link } from "wouter";
import { useRefusal } from "../../../api/cases";
import { useMe } from "../../../api/me";
import { Failure } from "../../../ui/Failure";
import { Untrusted } from "../../../ui/Untrusted";
import { formatBytes, Time } from "../../../ui/values";
import { hrefOf } from "../../../api/documentFilters";
import { fromSelected } from "./selected";
import { isWorking, isWriting, useCancel, useDownload, useStartExport, type Export, type Job } from "./requests";
import { describeExport, describeJob } from "./words";

/** A tagging job: its tag, how far it is or what it did, and the way to stop it. */
export function JobLine({ caseId, job }: { caseId: number; job: Job }) {
  const role = useMe().data?.role;
  const isRefused = useRefusal(caseId, "end") !== null;
  const tags = [...job.add, ...job.remove];
  return (
    <li>
      <span>
        {job.add.length ? "Tag " : "Remove tag "}
        {tags.map((tag, index) => (
          <span key={tag}>
            {index > 0 && ", "}
            <Link href={hrefOf(caseId, { tag: [tag] })}>
              <Untrusted text={tag} />
            </Link>
          </span>
        ))}
      </span>
      {isWorking(job) && <Bar value={job.tagged} max={job.expected} label={`Tagging ${tags.join(", ")}`} />}
      <span>{describeJob(job)}</span>
      {job.status === "completed" && (job.remaining ?? 0) > 0 && (
        <span className="late">
          {job.remaining?.toLocaleString()} came or changed meanwhile and are not done: do it once more.
        </span>
      )}
      <Time value={job.createdAt} />
      {isWorking(job) && role !== undefined && role !== "viewer" && !isRefused && (
        <Cancel caseId={caseId} what="job" id={job.id} name={tags.join(", ")} />
      )}
    </li>
  );
}

/** An export: how far it is, and its file while there is one. */
export function ExportLine({ caseId, made }: { caseId: number; made: Export }) {
  const download = useDownload();
  const isRefused = useRefusal(caseId, "end") !== null;
  const filters = fromSelected(made.filters);
  return (
    <li>
      <span>
        Export of {made.kind} as {made.format === "csv" ? "CSV" : "JSON lines"}
      </span>
      {isWriting(made) && <Bar value={made.documents} max={made.expectedDocuments} label={`Export ${made.id}`} />}
      <span>
        {filters ? (
          <Link href={hrefOf(caseId, filters)}>
            <Untrusted text={describeExport(made)} />
          </Link>
        ) : (
          <Untrusted text={describeExport(made)} />
        )}
        {made.status === "completed" && `, ${formatBytes(made.size)}`}
      </span>
      <Time value={made.createdAt} />
      {isWriting(made) && !isRefused && (
        <Cancel caseId={caseId} what="export" id={made.id} name={`export ${made.id}`} />
      )}
      {made.status === "completed" && (
        <button type="button" disabled={download.isPending} onClick={() => download.mutate(made.id)}>
          Download<span className="unseen"> export {made.id}</span>
        </button>
      )}
      {(made.status === "expired" || made.status === "failed") && !isRefused && <Again caseId={caseId} made={made} />}
      {download.isError && <Failure error={download.error} />}
    </li>
  );
}

/** A progress bar; one without an end while the number is not known. */
function Bar({ value, max, label }: { value: number; max: number | null; label: string }) {
  return max ? <progress value={Math.min(value, max)} max={max} aria-label={label} /> : <progress aria-label={label} />;
}

function Cancel({ caseId, what, id, name }: { caseId: number; what: "job" | "export"; id: number; name: string }) {
  const cancel = useCancel(caseId);
  const [key] = useState(() => crypto.randomUUID());
  return (
    <>
      <button type="button" disabled={cancel.isPending} onClick={() => cancel.mutate({ what, id, key })}>
        Cancel
        <span className="unseen">
          {" "}
          {what === "job" ? "the tag " : ""}
          {name}
        </span>
      </button>
      {cancel.isError && <Failure error={cancel.error} />}
    </>
  );
}

function Again({ caseId, made: { id, kind, format, filters } }: { caseId: number; made: Export }) {
  const start = useStartExport(caseId);
  const [key] = useState(() => crypto.randomUUID());
  return (
    <>
      <button
        type="button"
        disabled={start.isPending || start.isSuccess}
        onClick={() => start.mutate({ key, kind, format, filters })}
      >
        Export again<span className="unseen"> what export {id} had</span>
      </button>
      {start.isError && <Failure error={start.error} />}
    </>
  );
}
