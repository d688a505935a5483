import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useSearchParams } from "wouter";
import { readWork } from "../../../api/documentFilters";
import { announce } from "../../../ui/LiveRegion";
import { Failure } from "../../../ui/Failure";
import { ExportLine, JobLine } from "./Lines";
import { isWorking, isWriting, refreshTags, useExports, useJobs, useNamed, type Export, type Job } from "./requests";
import { describeExport, describeJob } from "./words";
import "./actions.css";

interface WorkProps {
  caseId: number;
  /** Null until the case is read. */
  caseName: string | null;
}

/**
 * Tagging and exports of the case: what goes on or has ended while this page was open, what its address names, and the
 * others on request.
 */
export function Work({ caseId, caseName }: WorkProps) {
  const jobs = useJobs(caseId);
  const exports = useExports(caseId);
  const queries = useQueryClient();
  const seenJobs = useSeen(jobs.data, isWorking, (job) => {
    announce(`Tag ${[...job.add, ...job.remove].join(", ")}: ${describeJob(job)}.`);
    refreshTags(queries, caseId);
  });
  const seenExports = useSeen(exports.data, isWriting, (each) => announce(`Export: ${describeExport(each)}.`));
  const named = useNamedByAddress();
  const found = useNamed(named);
  const isNamed = (each: Job | Export) => named?.id === each.id && (named.kind === "tagging_job") === "tagged" in each;
  const isSeen = (each: Job | Export) => isNamed(each) || ("tagged" in each ? seenJobs : seenExports).has(each.id);
  const listed = [...(jobs.data ?? []), ...(exports.data ?? [])];
  // An older one than the lists have, if it is of this case.
  const older = found.data?.case === caseName && !listed.some(isNamed) ? [found.data] : [];
  const all = [...listed, ...older].sort((a, b) => b.createdAt.localeCompare(a.createdAt));
  const earlier = all.filter((each) => !isSeen(each));
  if (all.length === 0 && !jobs.isError && !exports.isError && !found.isError) return null;
  return (
    <section className="work" aria-label="Tagging and exports">
      {jobs.isError && <Failure error={jobs.error} again={() => void jobs.refetch()} />}
      {exports.isError && <Failure error={exports.error} again={() => void exports.refetch()} />}
      {found.isError && <Failure error={found.error} again={() => void found.refetch()} />}
      <Lines caseId={caseId} items={all.filter(isSeen)} />
      {earlier.length > 0 && (
        <details>
          <summary>Earlier tagging and exports ({earlier.length.toLocaleString()})</summary>
          <Lines caseId={caseId} items={earlier} />
        </details>
      )}
    </section>
  );
}

/** What the address named last: it stays when the filters of the list, which are in the address, too, are changed. */
function useNamedByAddress() {
  const [address] = useSearchParams();
  const named = readWork(address);
  const [last, setLast] = useState(named);
  if (named === null || (named.kind === last?.kind && named.id === last.id)) return last;
  setLast(named);
  return named;
}

function Lines({ caseId, items }: { caseId: number; items: (Job | Export)[] }) {
  if (items.length === 0) return null;
  return (
    <ul>
      {items.map((each) =>
        "tagged" in each ? (
          <JobLine key={`job ${each.id}`} caseId={caseId} job={each} />
        ) : (
          <ExportLine key={`export ${each.id}`} caseId={caseId} made={each} />
        ),
      )}
    </ul>
  );
}

interface Item {
  id: number;
  createdAt: string;
}

/** The ids of those that went on while the page was open, or came since; `onEnd` is called once as each of them ends. */
function useSeen<T extends Item>(items: T[] | undefined, goesOn: (item: T) => boolean, onEnd: (item: T) => void) {
  const [seen, setSeen] = useState<ReadonlySet<number>>(new Set());
  const ended = useRef<Set<number> | null>(null);
  useEffect(() => {
    if (items === undefined) return;
    // What had ended when the page was opened is of no interest.
    ended.current ??= new Set(items.filter((each) => !goesOn(each)).map(({ id }) => id));
    const known = ended.current;
    const over = items.filter((each) => !goesOn(each) && !known.has(each.id));
    const added = items.filter((each) => !known.has(each.id) && !seen.has(each.id)).map(({ id }) => id);
    if (added.length) setSeen(new Set([...seen, ...added]));
    for (const each of over) {
      known.add(each.id);
      onEnd(each);
    }
  }, [items, goesOn, onEnd, seen]);
  return seen;
}
