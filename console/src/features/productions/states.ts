// What a production and its steps are doing, in words.
import type { Schemas } from "../../api/client";

type Production = Schemas["Production"];
type Status = Schemas["ProductionStatus"];
type Step = Schemas["ProductionStep"];
export type Tone = "good" | "warn" | "bad" | "busy" | "idle";

export const STATUSES: Record<Status, [words: string, tone: Tone]> = {
  requested: ["requested", "busy"],
  running: ["running", "busy"],
  confirmed: ["confirmed", "good"],
  cancelling: ["cancelling", "busy"],
  cancelled: ["cancelled", "idle"],
  needs_attention: ["needs attention", "bad"],
};

/** Whether a production of a list goes on by itself. */
export const isUnderWay = ({ status }: { status: Status }) => STATUSES[status][1] === "busy";

/** Whether anything goes on by itself: after the confirmation, recipients are still notified. */
export const isRunning = (production: Production) =>
  isUnderWay(production) ||
  (production.status === "confirmed" && production.steps.some((step) => step.status === "pending"));

/** Whether a cancellation can still take effect. */
export const isCancellable = ({ status, cancelRequested }: Production) =>
  (status === "requested" || status === "running") && !cancelRequested;

const NAMES: Record<string, string> = {
  begin: "Start",
  reserve: "Reserve the numbers",
  copy: "Copy the files",
  confirm: "Confirm the numbers",
  notify: "Notify the recipients",
};
const UNDONE: Record<string, string> = {
  begin: "undone",
  reserve: "undone: its numbers are void",
  copy: "undone: its files are deleted",
};

export const nameStep = (name: string): string => NAMES[name] ?? name;

/** Whether a step failed; a cancellation that was requested ends a step, too. */
const hasFailed = ({ failedStep, cancelRequested }: Production) => failedStep !== null && !cancelRequested;

/** Why a production was undone, with the words of the pages where the reason is written for programs. */
export function tellReason(reason: string): string {
  if (TAKEN.test(reason))
    return "Another production took the numbers that the draft had shown, before this one could. None was used: draft it again to get the next ones.";
  return reason.replace(
    /Restore the files, check \(POST \/productions\/check\), and request a new production\.$/,
    "Restore the files, then draft it again.",
  );
}

const TAKEN = /^The next number of the prefix is [0-9]+: omit startAt, or use another prefix\.$/;

/** What a step is doing; `isNext` says that it is the one under way. */
export function describeStep(step: Step, production: Production, isNext: boolean): string {
  if (step.status === "failed") return "failed";
  if (step.status === "compensated") {
    const undone = UNDONE[step.name] ?? "undone";
    return hasFailed(production) && step.name === production.failedStep ? `failed, then ${undone}` : undone;
  }
  if (step.status === "completed") return "done";
  if (!isNext) return isUnderWay(production) ? "waits" : "not begun";
  if (step.total === null) return "running";
  return `${(step.done ?? 0).toLocaleString()} of ${step.total.toLocaleString()} documents`;
}

/** The step that is under way; null if none is. */
export function findCurrent(production: Production): Step | null {
  if (!isRunning(production) || production.status === "cancelling") return null;
  return production.steps.find((step) => step.status === "pending") ?? null;
}

/** What the production is, in the sentence that answers the page's question: is it delivered, and as what? */
export function answer(production: Production): string {
  const { status, documents, firstBates, lastBates, volume } = production;
  const range = firstBates === lastBates ? `${firstBates}` : `${firstBates} to ${lastBates}`;
  const counted = documents === 1 ? "1 document has" : `${(documents ?? 0).toLocaleString()} documents have`;
  if (status === "confirmed") return `The volume ${volume} is complete: ${counted} the numbers ${range}.`;
  if (status === "needs_attention") return "The production has stopped and needs you: see what is left to do.";
  if (status === "cancelled") {
    const what = hasFailed(production) ? "failed and was undone" : "was cancelled";
    return firstBates
      ? `The production ${what}. Its files are deleted, and the numbers ${range} are void.`
      : `The production ${what} before it had numbers. Nothing of it is left.`;
  }
  if (status === "cancelling" || production.cancelRequested)
    return "The production is being cancelled. You can leave this page.";
  if (!firstBates) return "The production is running; its numbers are not reserved yet. You can leave this page.";
  return `The production is running: ${counted} the numbers ${range}. You can leave this page.`;
}

/** What a cancellation voids, for the question before it. */
export function describeVoid({ firstBates, lastBates, documents }: Production): string {
  if (!firstBates) return "It has no numbers yet: if it gets none before it is cancelled, none are void.";
  const counted = documents === 1 ? "1 document" : `${(documents ?? 0).toLocaleString()} documents`;
  return `The numbers ${firstBates} to ${lastBates} of ${counted} become void: they are never given again.`;
}
