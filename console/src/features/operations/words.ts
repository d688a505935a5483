import type { Schemas } from "../../api/client";
import { hrefOfWork } from "../../api/documentFilters";

type Group = Schemas["WorkGroup"];
type Work = Schemas["Work"];
type DeadLetter = Schemas["DeadLetter"];

const NOUNS: Record<Group["kind"], [string, string]> = {
  import: ["Import", "Imports"],
  undo: ["Undo of import", "Undos"],
  volume: ["Volume", "Volumes"],
  export: ["Export", "Exports"],
  tagging_job: ["Tagging", "Taggings"],
  production: ["Production", "Productions"],
};

/** What a whole kind is called. */
export const nameKind = (kind: Group["kind"]): string => NOUNS[kind][1];

/** What one of a kind is called, such as `Import 12`. */
export const nameWork = (kind: Group["kind"], id: number): string => `${NOUNS[kind][0]} ${id}`;

/** The page of a piece of work; of one without a page, that of the documents, which shows it. */
export function findPage(kind: Group["kind"], work: Work): string {
  if (kind === "import" || kind === "undo") return `/imports/${work.id}`;
  if (kind === "production") return `/productions/${work.id}`;
  if (kind === "volume")
    return work.status === "failed" ? `/import/volume/${work.id}` : `/cases/${work.caseId}/imports`;
  return hrefOfWork(work.caseId, kind, work.id);
}

/** How many there are, honest about what is not counted: `3`, or `100 or more`. */
export const countShown = (total: number, isLowerBound: boolean): string =>
  isLowerBound ? `${total.toLocaleString()} or more` : total.toLocaleString();

const UNITS: [number, string][] = [
  [86_400, "day"],
  [3_600, "h"],
  [60, "min"],
];

/** How long ago it was, in its largest unit: `12 min`, `3 h`, `2 days`. */
export function formatAge(since: string, now: number): string {
  const seconds = Math.max((now - Date.parse(since)) / 1000, 0);
  const [size, unit] = UNITS.find(([each]) => seconds >= each) ?? [1, ""];
  if (unit === "") return "less than a minute";
  const value = Math.floor(seconds / size);
  return unit === "day" ? `${value} day${value === 1 ? "" : "s"}` : `${value} ${unit}`;
}

const RUNNING: Record<string, string> = {
  splitting: "being split",
  checking: "being checked",
  undoing: "being undone",
  sealed: "being listed",
  expanding: "being expanded",
  hashing: "being hashed",
  deleting: "being deleted",
  counting: "counting what is left",
  cancelling: "being cancelled",
};

/** In what state it is, and for how long. */
export function describeState(group: Group, work: Work, now: number): string {
  const age = formatAge(work.since, now);
  if (group.state === "waiting")
    return work.status === "waiting" ? `waits ${age} for the import of its load file` : `waits ${age} for a turn`;
  if (group.state === "running") return `${RUNNING[work.status] ?? "running"} · ${age}`;
  if (work.status === "needs_attention") return `needs attention · ${age}`;
  return `failed ${age} ago`;
}

/** Why it failed, and what to do. */
export function explainFailure(kind: Group["kind"], work: Work): string | null {
  if (work.chunksFailed > 0)
    return (
      `${work.chunksFailed === 1 ? "1 part of the file" : `${work.chunksFailed.toLocaleString()} parts of the file`} ` +
      "failed in every attempt; the rows are in the error file. Retry repeats only these parts."
    );
  if (kind === "undo") return "A part of the undo failed in every attempt. Undo the import again on its page.";
  if (kind === "tagging_job") return "It stopped before all documents were tagged. Tag them again.";
  if (kind === "export") return work.reason ?? "It stopped. Request it again.";
  return work.reason;
}

const MISSED: Record<string, string> = {
  "import.completed": "its report files are not written",
  "import.cancelled": "its report files are not written",
  "import.checked": "its report files are not written",
  "import.undone": "the report of the undo is not written",
  "export.requested": "the export does not begin",
  "production.requested": "the production does not begin",
};

/** What waits for an event that could not be published. */
export const explainMissed = (event: DeadLetter): string =>
  event.target === "bus" || !(event.eventType in MISSED)
    ? "subscribers to events were not notified"
    : (MISSED[event.eventType] ?? "");

/** What an event is about, with the page of that if it has one. */
export function describeObject(event: DeadLetter): { words: string; page: string | null } {
  const [id = ""] = event.objectId.split("/");
  if (event.objectType === "import") return { words: `Import ${id}`, page: `/imports/${id}` };
  if (event.objectType === "chunk") return { words: `A part of import ${id}`, page: `/imports/${id}` };
  if (event.objectType === "production") return { words: `Production ${id}`, page: `/productions/${id}` };
  if (event.objectType === "export") return { words: `Export ${id}`, page: null };
  return { words: event.objectType === "upload" ? "An upload that was refused" : event.objectType, page: null };
}

/** Why it was given up. */
export function explainRefusal(event: DeadLetter): string {
  const target = event.target === "bus" ? "the event bus" : "the topic of events";
  const times = event.refusals === 1 ? "once" : `${event.refusals.toLocaleString()} times`;
  return `refused ${times} by ${target}${event.refusal === null ? "" : ` (${event.refusal})`}`;
}

/** The first line of the page: how much of what there is, each with the section that lists it; empty for nothing. */
export function summarize({ groups, events }: Schemas["Operations"]): { section: string; words: string }[] {
  const sum = (state: Group["state"], one: string, many: string) => {
    const those = groups.filter((each) => each.state === state);
    const total = those.reduce((all, each) => all + each.total, 0);
    const isMore = those.some((each) => each.totalIsLowerBound);
    return { section: state, total, words: `${countShown(total, isMore)} ${total === 1 ? one : many}` };
  };
  const given = countShown(events.total, events.totalIsLowerBound);
  const lost = events.total === 1 ? "event not published" : "events not published";
  return [
    sum("failed", "failed", "failed"),
    { section: "events", total: events.total, words: `${given} ${lost}` },
    sum("waiting", "waits", "wait"),
    sum("running", "runs", "run"),
  ].filter((each) => each.total > 0);
}
