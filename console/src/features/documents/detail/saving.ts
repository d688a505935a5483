// Saving the edits of a document: request by request, each repeated until its answer is known, and never over what
// others have changed at the same place.
import type { QueryClient } from "@tanstack/react-query";
import { ApiError, data } from "../../../api/client";
import { repeat } from "../../../api/repeat";
import { announce } from "../../../ui/LiveRegion";
import { countChanges, findConflicts, findFaults, isDecided, rebase, type Draft } from "./draft";
import type { Exhibit } from "./fields";
import { locateFaults } from "./faults";
import { readChanges, readDocument, refreshDocument } from "./queries";
import { forgetKey, keyOf, nextStep, send, settle } from "./steps";
import { changeWork, endWork, getWork, type EditConflict } from "./work";
import { findWriters } from "./writers";

/** How many of the newest changes are looked through for who has changed what. */
const LOOKED_THROUGH = 100;
/** How often other people may change other places while one attempt to save is made. */
const MOST_CONFLICTS = 5;

/** Save everything; what could not be saved stays, with the reason. */
export async function save(id: number, queries: QueryClient): Promise<void> {
  const work = getWork(id);
  if (!work || work.isSaving) return;
  const draft = takeDecisions(work.draft, work.conflict);
  if (draft === null) return;
  const faults = findFaults(draft);
  if (faults.size) return changeWork(id, { faults, failures: work.failures + 1 });
  changeWork(id, { draft, conflict: null, isSaving: true, error: null, faults: new Map() });
  // Edits that were dropped meanwhile, and others begun, are none of this attempt's.
  const isCurrent = () => getWork(id)?.keys === work.keys;
  try {
    await sendAll(id, isCurrent);
  } catch (error) {
    if (isCurrent()) changeWork(id, { ...describeFailure(error, getWork(id)?.draft), failures: work.failures + 1 });
  }
  if (!isCurrent()) return refreshDocument(queries, id);
  changeWork(id, { isSaving: false });
  finish(id, queries);
}

/** Return the draft on the newer version; null while something is not decided. */
export function takeDecisions(draft: Draft, conflict: EditConflict | null): Draft | null {
  if (!conflict) return draft;
  const { theirs, choices } = conflict;
  return isDecided(findConflicts(draft, theirs), choices) ? rebase(draft, theirs, choices) : null;
}

function finish(id: number, queries: QueryClient): void {
  const work = getWork(id);
  if (work && !work.error && !work.conflict && work.faults.size === 0 && countChanges(work.draft) === 0) {
    endWork(id);
    announce("The changes are saved.");
  }
  refreshDocument(queries, id);
}

async function sendAll(id: number, isCurrent: () => boolean): Promise<void> {
  for (let conflicts = 0; ;) {
    const work = getWork(id);
    const step = work && nextStep(work.draft);
    if (!step) return;
    try {
      const answer = await repeat(() => send(id, step, keyOf(work.keys, step)));
      forgetKey(work.keys, step);
      if (!isCurrent()) return;
      changeWork(id, { draft: settle(getWork(id)!.draft, step, answer) });
    } catch (error) {
      // What was refused has not taken effect.
      if (error instanceof ApiError && error.status < 500) forgetKey(work.keys, step);
      if (!isStale(error) || ++conflicts > MOST_CONFLICTS) throw error;
      if (!isCurrent() || !(await readTheirs(id, isCurrent))) return;
    }
  }
}

const isStale = (error: unknown) => error instanceof ApiError && error.code === "stale-version";

/** Read what others have saved. Returns whether saving can go on: no other user has changed what this user has changed. */
async function readTheirs(id: number, isCurrent: () => boolean): Promise<boolean> {
  const { draft } = getWork(id)!;
  const theirs = data(await repeat(() => readDocument(id))) as Exhibit;
  if (!isCurrent()) return false;
  if (findConflicts(draft, theirs).length === 0) {
    changeWork(id, { draft: rebase(draft, theirs, new Map()) });
    return true;
  }
  const entries = await repeat(() => readChanges(id, LOOKED_THROUGH));
  if (!isCurrent()) return false;
  changeWork(id, { conflict: { theirs, writers: findWriters(entries, draft.base.version), choices: new Map() } });
  announce("Others have changed the same values. Choose what is to stay.");
  return false;
}

function describeFailure(error: unknown, draft: Draft | undefined) {
  const faults = draft ? locateFaults(error, draft) : new Map<string, string>();
  return faults.size ? { faults } : { error };
}
