import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { announce } from "../../../ui/LiveRegion";
import { count } from "../../../ui/values";
import { sendBatches, toBatches, type Batch, type Outcome } from "./batches";
import { refreshTags, sendTagging } from "./requests";
import { describeTagging } from "./words";

/** A tagging of documents by their ids, as far as it is. */
export interface Tagging {
  tag: string;
  isRemoval: boolean;
  all: number;
  done: number;
  /** Null while it goes on. */
  outcome: Outcome | null;
}

/** Tag documents by their ids, and again those of batches that failed. `onSuccess` is called once all are done. */
export function useTagging(caseId: number, isRemoval: boolean, onSuccess: (tagging: Tagging) => void) {
  const queries = useQueryClient();
  const [tagging, setTagging] = useState<Tagging | null>(null);
  const isStopped = useRef(false);
  const run = async (start: Tagging, batches: Batch[]) => {
    isStopped.current = false;
    setTagging({ ...start, outcome: null });
    const outcome = await sendBatches(
      batches,
      (batch) => sendTagging(batch, start.tag, isRemoval),
      (done) => setTagging((last) => last && { ...last, done }),
      () => isStopped.current,
      start.outcome ?? undefined,
    );
    refreshTags(queries, caseId);
    const ended = { ...start, done: outcome.documents, outcome };
    setTagging(ended);
    const { documents, changed, failed } = outcome;
    announce(
      failed.length
        ? `${count(start.all - documents, "document")} not done.`
        : `${start.tag}: ${describeTagging(documents, changed, isRemoval)}.`,
    );
    if (failed.length === 0) onSuccess(ended);
  };
  return {
    tagging,
    start: (tag: string, ids: ReadonlySet<number>) =>
      void run({ tag, isRemoval, all: ids.size, done: 0, outcome: null }, toBatches(ids)),
    retry: () => tagging?.outcome && void run(tagging, tagging.outcome.failed),
    /** Send no more batches; the one on its way is done. */
    stop: () => void (isStopped.current = true),
  };
}
