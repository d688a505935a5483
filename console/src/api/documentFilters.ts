// The filters of a list of documents live in the address, so that a link shows what its sender saw. Names of people and
// tags are values of the query, never parts of a path.
import type { Schemas } from "./client";

/** Words, numbers and names that stand once. `from` is a place in the list and no filter. */
const TEXTS = ["title", "withoutTag", "bates", "batesFrom", "batesTo", "confidentiality", "family", "from"] as const;
/** Names of which a document has to have each. */
const NAMES = ["custodian", "tag", "tagTree"] as const;
const DAYS = ["dateFrom", "dateTo"] as const;
const ANSWERS = ["hasNative", "hasText", "hasImages"] as const;
const NUMBERS = ["import", "changed"] as const;
/** Ids of documents: those alone, or all but those. */
const IDS = ["ids", "except"] as const;
/** How many values of one filter the server takes. */
const MOST: Record<(typeof NAMES | typeof IDS)[number], number> = {
  custodian: 10,
  tag: 10,
  tagTree: 10,
  ids: 1_000,
  except: 1_000,
};

type Text = (typeof TEXTS)[number];
type Name = (typeof NAMES)[number];
type Day = (typeof DAYS)[number];
export type Answer = (typeof ANSWERS)[number];
type Numbered = (typeof NUMBERS)[number];
type Ids = (typeof IDS)[number];

export type FilterName = Text | Name | Day | Answer | Numbered | Ids;
export type Filters = Partial<
  Record<Text | Day, string> &
    Record<Name, string[]> &
    Record<Answer, boolean> &
    Record<Numbered, number> &
    Record<Ids, number[]>
>;
/** What the API takes for these filters. */
export type Selected = { [K in keyof Schemas["ExhibitSelection"]]?: NonNullable<Schemas["ExhibitSelection"][K]> };

/** Return the filters of an address; what is not a filter, or not one that can match, is left out. */
export function readFilters(address: URLSearchParams): Filters {
  const filters: Filters = {};
  for (const name of TEXTS) {
    const value = address.get(name)?.trim();
    if (value) filters[name] = value;
  }
  for (const name of NAMES) {
    const values = distinct(
      address
        .getAll(name)
        .map((each) => each.trim())
        .filter(Boolean),
    );
    if (values.length) filters[name] = values.slice(0, MOST[name]);
  }
  for (const name of DAYS) if (isDay(address.get(name))) filters[name] = address.get(name)!;
  for (const name of ANSWERS) {
    const value = address.get(name);
    if (value === "true" || value === "false") filters[name] = value === "true";
  }
  for (const name of NUMBERS) if (isId(Number(address.get(name)))) filters[name] = Number(address.get(name));
  for (const name of IDS) {
    const values = distinct((address.get(name) ?? "").split(",").map(Number).filter(isId));
    if (values.length) filters[name] = values.slice(0, MOST[name]);
  }
  return filters;
}

const distinct = <T>(values: T[]): T[] => [...new Set(values)];
const isId = (value: number): boolean => Number.isSafeInteger(value) && value > 0;
const isDay = (value: string | null): boolean =>
  value !== null && /^\d{4}-\d\d-\d\d$/.test(value) && new Date(`${value}T00:00Z`).toJSON()?.slice(0, 10) === value;

/** Return the id of the document that is open, or null. */
export function readOpen(address: URLSearchParams): number | null {
  const id = Number(address.get("open"));
  return isId(id) ? id : null;
}

/** Return the address with other filters, and without the document that was open. */
export function writeFilters(filters: Filters): URLSearchParams {
  const address = new URLSearchParams();
  for (const [name, value] of Object.entries(filters)) {
    if (value === undefined || value === "") continue;
    if (!Array.isArray(value)) address.set(name, String(value));
    else if (isOfIds(name)) value.length && address.set(name, value.join(","));
    else for (const each of value) address.append(name, String(each));
  }
  return address;
}

const isOfIds = (name: string): boolean => (IDS as readonly string[]).includes(name);

/** Return the path of the list with these filters. */
export function hrefOf(caseId: number, filters: Filters): string {
  const query = writeFilters(filters).toString();
  return `/cases/${caseId}/documents${query && `?${query}`}`;
}

/** Return the path of the list beside an export or a tagging job, which has no page of its own. */
export const hrefOfWork = (caseId: number, kind: "export" | "tagging_job", id: number): string =>
  `/cases/${caseId}/documents?work=${kind}:${id}`;

/** Return the export or tagging job that an address names, or null. */
export function readWork(address: URLSearchParams): { kind: "export" | "tagging_job"; id: number } | null {
  const [, kind, id] = /^(export|tagging_job):(\d{1,15})$/.exec(address.get("work") ?? "") ?? [];
  return kind && isId(Number(id)) ? { kind: kind as "export" | "tagging_job", id: Number(id) } : null;
}

/** Return the filters of the API. A Bates number finds the document whose range has it. */
export function toQuery(filters: Filters): Selected {
  const { title, custodian, tag, tagTree, withoutTag, confidentiality, family, dateFrom, dateTo } = filters;
  const { hasNative, hasText, hasImages, ids, except } = filters;
  const [batesFrom, batesTo] = filters.bates ? [filters.bates, filters.bates] : [filters.batesFrom, filters.batesTo];
  const query = { title, custodian, tag, tagTree, withoutTag, confidentiality, family, dateFrom, dateTo, batesFrom };
  return pruned({
    ...query,
    ...{ batesTo, hasNative, hasText, hasImages, ids, exceptIds: except },
    ...{ importId: filters.import, changedByImport: filters.changed },
  });
}

/** Return the object without what is undefined, empty or a list of nothing. */
function pruned<T extends object>(values: T): T {
  const kept = Object.entries(values).filter(
    ([, value]) => value !== undefined && value !== "" && !(Array.isArray(value) && value.length === 0),
  );
  return Object.fromEntries(kept) as T;
}

/** One filter of the list with one value, and the filters without it. */
export interface Part {
  name: FilterName;
  value: string | number | boolean;
  without: Filters;
}

/** Return the filters one by one: each can be taken away alone. */
export function listParts(filters: Filters): Part[] {
  return (Object.keys(filters) as FilterName[]).flatMap((name): Part[] => {
    const value = filters[name];
    if (value === undefined || value === "") return [];
    const { [name]: _taken, ...others } = filters;
    if (!Array.isArray(value)) return [{ name, value, without: others }];
    if (isOfIds(name)) return [{ name, value: value.length, without: others }];
    return (value as string[]).map((each) => {
      const left = (value as string[]).filter((other) => other !== each);
      return { name, value: each, without: left.length ? { ...others, [name]: left } : others };
    });
  });
}

/** Return the filters with one more name; at most as many as the server takes. */
export function addName(filters: Filters, name: Name, value: string): Filters {
  return { ...filters, [name]: distinct([...(filters[name] ?? []), value]).slice(-MOST[name]) };
}

/** Return the filters without the place in the list. */
export function withoutPlace({ from: _place, ...filters }: Filters): Filters {
  return filters;
}

/** Whether the number of all that match is found by an index; a search in titles reads every document. */
export const isCounted = (filters: Filters) => !filters.title;

/** Whether there is any filter; a place in the list is none. */
export const isFiltered = (filters: Filters): boolean => listParts(withoutPlace(filters)).length > 0;
