// Which documents a production has: the filters of the list of documents under the names that they have in its address,
// so that its address can be handed over as it is; or documents by their ids or control numbers; or the whole case.
import type { Schemas } from "../../api/client";
import { hrefOf, readFilters as readListed, toQuery as toListedQuery } from "../../api/documentFilters";

export type Query = NonNullable<Schemas["NewProduction"]["query"]>;
export type Filters = Record<string, string[]>;
export type Selection =
  | { way: "filters"; filters: Filters }
  | { way: "ids"; ids: number[] }
  | { way: "numbers"; numbers: string[] }
  | { way: "all" };

interface Filter {
  words: string;
  /** Several names are those of documents that have all of them. */
  isList?: true;
  api: (values: string[]) => Query | null;
}

const one = (name: keyof Query) => (values: string[]) => ({ [name]: values[0] }) as Query;
const list = (name: keyof Query) => (values: string[]) => ({ [name]: values }) as Query;
const number = (name: keyof Query) => (values: string[]) => {
  const id = Number(values[0]);
  return Number.isSafeInteger(id) && id > 0 ? ({ [name]: id } as Query) : null;
};
const isYes = (value: string): boolean => /^(true|yes|1)$/.test(value);
const flag = (name: keyof Query) => (values: string[]) =>
  /^(true|false|yes|no|1|0)$/.test(values[0]!) ? ({ [name]: isYes(values[0]!) } as Query) : null;

/** The filters by their names in an address, and what each is in the API. */
export const FILTERS: Record<string, Filter> = {
  tag: { words: "tag", isList: true, api: list("tag") },
  tagTree: { words: "tag or one nested in it", isList: true, api: list("tagTree") },
  withoutTag: { words: "without tag", api: one("withoutTag") },
  custodian: { words: "custodian", isList: true, api: list("custodian") },
  title: { words: "title has", api: one("title") },
  bates: { words: "Bates number", api: ([bates]) => ({ batesFrom: bates, batesTo: bates }) as Query },
  batesFrom: { words: "Bates numbers from", api: one("batesFrom") },
  batesTo: { words: "Bates numbers to", api: one("batesTo") },
  dateFrom: { words: "dated from", api: one("dateFrom") },
  dateTo: { words: "dated to", api: one("dateTo") },
  controlNumber: { words: "control number", api: one("controlNumber") },
  parent: { words: "attachments of", api: one("parent") },
  family: { words: "family of", api: one("family") },
  import: { words: "import", api: number("importId") },
  changed: { words: "changed by import", api: number("changedByImport") },
  hasNative: { words: "has a native", api: flag("hasNative") },
  hasText: { words: "has a text", api: flag("hasText") },
  hasImages: { words: "has images", api: flag("hasImages") },
  confidentiality: { words: "confidentiality", api: one("confidentiality") },
};

/** Return the filters of an address that can be read; an empty value is none. A Bates number comes before a range. */
export function readFilters(address: URLSearchParams): Filters {
  const filters: Filters = {};
  for (const [name, { api, isList }] of Object.entries(FILTERS)) {
    const values = [...new Set(address.getAll(name).map((each) => each.trim()))].filter(Boolean);
    if (values.length && api(values)) filters[name] = isList ? values : values.slice(0, 1);
  }
  if (!filters.bates) return filters;
  const { batesFrom: _from, batesTo: _to, ...others } = filters;
  return others;
}

/** Return the query of the API for the filters. */
export function toQuery(filters: Filters): Query {
  const parts = Object.entries(filters).map(([name, values]) => (values.length ? FILTERS[name]!.api(values) : null));
  return Object.assign({}, ...parts) as Query;
}

/** Return the lines that have something, each once and without the spaces around it. */
export function readLines(text: string): string[] {
  return [...new Set(text.split(/\r?\n/).map((line) => line.trim()))].filter(Boolean);
}

/** Return what a request says of the selection; null if nothing is selected. */
export function toRequest(
  selection: Selection,
): Pick<Schemas["NewProduction"], "query" | "exhibitIds" | "controlNumbers"> | null {
  switch (selection.way) {
    case "all":
      return { query: {} };
    case "ids":
      return selection.ids.length ? { exhibitIds: selection.ids } : null;
    case "numbers":
      return selection.numbers.length ? { controlNumbers: selection.numbers } : null;
    case "filters": {
      const query = toQuery(selection.filters);
      return Object.keys(query).length ? { query } : null;
    }
  }
}

/** Return the address of the list of these documents; null where the list cannot show exactly them. */
export function linkDocuments(caseId: number, selection: Selection): string | null {
  if (selection.way === "all") return hrefOf(caseId, {});
  if (selection.way !== "filters") return null;
  const query = toQuery(selection.filters);
  const address = new URLSearchParams();
  for (const [name, values] of Object.entries(selection.filters))
    for (const each of values) address.append(name, name.startsWith("has") ? String(isYes(each)) : each);
  const isSame = Object.keys(query).length > 0 && sorted(query) === sorted(toListedQuery(readListed(address)));
  return isSame ? `${hrefOf(caseId, {})}?${address}` : null;
}

/** Return the address of those of a list that have images; of a list of those without, there are none. */
export function linkWithImages(list: string): string | null {
  const [path, query] = list.split("?");
  const address = new URLSearchParams(query);
  if (address.get("hasImages") === "false") return null;
  address.set("hasImages", "true");
  return `${path}?${address}`;
}

const sorted = (query: object): string => JSON.stringify(Object.entries(query).sort(([a], [b]) => (a < b ? -1 : 1)));
