// What the actions say of numbers of documents.
import { count } from "../../../ui/values";
import type { Size } from "../selection";
import { isWorking, isWriting, type Export, type Job } from "./requests";

/** Return such as `3 documents`, `at least 100,001 documents`, or `all that match` while the number is not known. */
export function nameSize(size: Size | null): string {
  if (size === null) return "all documents that match";
  return `${size.isAtLeast ? "at least " : ""}${count(size.count, "document")}`;
}

/** Return what a tagging of chosen documents did: `documents` are done, of which `changed` were changed. */
export function describeTagging(documents: number, changed: number, isRemoval: boolean): string {
  const others = documents - changed;
  if (isRemoval)
    return others
      ? `removed from ${count(changed, "document")}; ${others.toLocaleString()} did not have it`
      : `removed from ${count(changed, "document")}`;
  return others
    ? `${count(changed, "document")} tagged; ${others.toLocaleString()} had it already`
    : `${count(changed, "document")} tagged`;
}

/** Return how far a tagging job is, or what it did. */
export function describeJob(job: Job): string {
  const isRemoval = job.add.length === 0;
  // A job of this page has one tag, of which each document has one at most.
  const done = describeTagging(job.tagged, Math.min(isRemoval ? job.removed : job.created, job.tagged), isRemoval);
  if (job.status === "counting") return `${done}; looking for documents that came meanwhile`;
  if (isWorking(job)) return `${job.tagged.toLocaleString()} of ${nameExpected(job)}`;
  if (job.status === "completed") return done;
  return `${job.status} after ${count(job.tagged, "document")}: ${done}. What is done stays`;
}

function nameExpected({ expected, expectedIsLowerBound }: Job): string {
  if (expected === null) return "all that match";
  return `${expectedIsLowerBound ? "at least " : ""}${count(expected, "document")}`;
}

/** Return how far an export is, or what came of it. */
export function describeExport({ status, documents, expectedDocuments, rows, kind, reason }: Export): string {
  const done =
    kind === "documents" ? count(documents, "document") : `${count(documents, "document")}, ${count(rows, "row")}`;
  if (status === "requested" || status === "running") {
    const all = expectedDocuments === null ? "all that match" : count(expectedDocuments, "document");
    return `${documents.toLocaleString()} of ${all}`;
  }
  if (status === "failed") return `failed: ${reason ?? "the reason is not known"}`;
  if (status === "expired") return `${done}; the file was deleted after 7 days`;
  return status === "cancelled" ? `cancelled after ${count(documents, "document")}` : done;
}

/** Whether the work of a line goes on. */
export const goesOn = (line: { job: Job } | { export: Export }): boolean =>
  "job" in line ? isWorking(line.job) : isWriting(line.export);
