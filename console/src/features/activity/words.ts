// Activities in words. An action that this version does not know is shown as it is.
import type { Schemas } from "../../api/client";
import { hrefOfWork } from "../../api/documentFilters";

export type Activity = Schemas["Activity"];

/** What was done; `%` stands for the object. */
const ACTIONS: Record<string, string> = {
  "case.created": "created %",
  "case.renamed": "renamed %",
  "case.closed": "closed %",
  "case.reopened": "reopened %",
  "case.held": "placed a legal hold on %",
  "case.lifted": "lifted the legal hold on %",
  "case.purge_requested": "requested the purge of %",
  "case.purge_withdrawn": "withdrew the purge of %",
  "case.purge_begun": "began to purge %",
  "case.purged": "purged %",
  "case.upload_refused": "refused an upload for %",
  "case.exhibits_tagged": "tagged documents of %",
  "case.exhibits_untagged": "removed tags from documents of %",
  "custodian.added": "added %",
  "exhibit.changed": "edited %",
  "exhibit.custodians_added": "added custodians to %",
  "exhibit.custodians_removed": "removed custodians from %",
  "profile.created": "saved %",
  "profile.replaced": "replaced %",
  "profile.deleted": "deleted %",
  "import.created": "began %",
  "import.received": "received the file of %",
  "import.options_changed": "changed how %’s file is read",
  "import.check_requested": "had %’s file checked",
  "import.run": "ran %",
  "import.corrected": "corrected rows of %",
  "import.cancelled": "cancelled %",
  "import.retried": "retried %",
  "import.expired": "closed %, whose file did not arrive",
  "import.checked": "ended the check of %",
  "import.completed": "completed %",
  "import.failed": "could not complete %",
  "import.undo_requested": "requested an undo of %",
  "import.undo_cancelled": "cancelled the undo of %",
  "import.undo_ended": "ended an undo of %",
  "volume.created": "began %",
  "volume.files_declared": "declared files of %",
  "volume.imported": "imported %",
  "volume.failed": "could not read %",
  "volume.deletion_requested": "requested the deletion of %’s files",
  "volume.deleted": "deleted the files of %",
  "tagging_job.created": "began %",
  "tagging_job.cancelled": "cancelled %",
  "tagging_job.completed": "completed %",
  "tagging_job.failed": "could not complete %",
  "production.created": "began %",
  "production.cancel_requested": "requested the cancellation of %",
  "production.retried": "retried %",
  "production.confirmed": "completed %",
  "production.cancelled": "cancelled %",
  "production.needs_attention": "could not complete %, which needs attention",
  "export.requested": "requested %",
  "export.cancelled": "cancelled %",
  "export.completed": "completed %",
  "export.failed": "could not complete %",
  "event.retried": "had % published again",
  "device.labelled": "labelled %",
  "device.periods_added": "recorded custody of %",
  "device.period_changed": "corrected custody of %",
  "device.period_removed": "removed a period of %",
  "device.transferred": "handed on %",
};

const OBJECTS: Record<string, string> = { exhibit: "document", profile: "mapping profile" };

/** All actions that have words, by the type of their object. */
export function listActions(): [type: string, actions: string[]][] {
  const groups = new Map<string, string[]>();
  for (const action of Object.keys(ACTIONS)) {
    const [type] = action.split(".");
    groups.set(type!, [...(groups.get(type!) ?? []), action]);
  }
  return [...groups];
}

/** The types of objects, in the order of the words. */
export const listTypes = (): string[] => listActions().map(([type]) => type);

export const nameType = (type: string): string => OBJECTS[type] ?? type.replaceAll("_", " ");

/** Return an action as a choice of a list, such as `completed`. */
export const nameAction = (action: string): string => {
  const [type] = action.split(".");
  return ACTIONS[action]?.replace("%", `a ${nameType(type!)}`).replace(/\ba (?=[aeiou])/, "an ") ?? action;
};

/** Return what stands before and after the object; null for an action without words. */
export function splitAction(action: string): [before: string, after: string] | null {
  const words = ACTIONS[action];
  if (!words) return null;
  const [before, after] = words.split("%");
  return [before!, after!];
}

export const nameObject = ({ objectType, objectId }: Pick<Activity, "objectType" | "objectId">): string =>
  `${nameType(objectType)} ${objectId}`;

/** Return the page of an object; null where there is none. The page of a volume is for those who may import. */
export function findPage(activity: Activity, canImport: boolean): string | null {
  const { objectType, objectId, caseId } = activity;
  switch (objectType) {
    case "case":
      return `/cases/${objectId}/documents`;
    case "exhibit":
      return caseId === null ? null : `/cases/${caseId}/documents?open=${objectId}`;
    case "import":
      return `/imports/${objectId}`;
    case "volume":
      return canImport ? `/import/volume/${objectId}` : caseId === null ? null : `/cases/${caseId}/imports`;
    case "production":
      return `/productions/${objectId}`;
    case "device":
      return `/custody/${objectId}`;
    case "export":
    case "tagging_job":
      return caseId === null ? null : hrefOfWork(caseId, objectType, objectId);
    default:
      return null;
  }
}

/** Numbers that only programs need. */
const UNSAID = new Set(["version", "optionsVersion", "generation", "undoNo", "run"]);

/** Return the counts, codes and ids of an activity in words, such as `2,990 imported`. */
export function describeSummary(summary: Activity["summary"]): string {
  const parts = Object.entries(summary).flatMap(([name, value]) => {
    const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replaceAll("_", " ");
    if (!value || UNSAID.has(name) || value === "completed") return [];
    if (value === true) return [words];
    if (typeof value === "string") return [name === "status" ? readable(value) : `${words} ${readable(value)}`];
    if (name.endsWith("Id")) return [`${words.replace(/ id$/, "")} ${value}`];
    return [`${value.toLocaleString()} ${value === 1 ? words.replace(/s$/, "") : words}`];
  });
  return parts.join(", ").replaceAll("exhibit", "document");
}

const readable = (value: string): string => (/^[a-z_]+$/.test(value) ? value.replaceAll("_", " ") : value);
