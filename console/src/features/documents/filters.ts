// The filters of a list of documents live in the address, so that a link shows what its sender saw.
const TEXTS = ["title", "custodian", "tag", "bates", "from"] as const;
const NUMBERS = ["import", "changed"] as const;

export type FilterName = (typeof TEXTS)[number] | (typeof NUMBERS)[number];
export type Filters = Partial<Record<(typeof TEXTS)[number], string> & Record<(typeof NUMBERS)[number], number>>;

/** Return the filters of an address; what is not a filter, or not one that can match, is left out. */
export function readFilters(address: URLSearchParams): Filters {
  const filters: Filters = {};
  for (const name of TEXTS) {
    const value = address.get(name)?.trim();
    if (value) filters[name] = value;
  }
  for (const name of NUMBERS) {
    const value = Number(address.get(name));
    if (Number.isSafeInteger(value) && value > 0) filters[name] = value;
  }
  return filters;
}

/** Return the id of the document that is open, or null. */
export function readOpen(address: URLSearchParams): number | null {
  const id = Number(address.get("open"));
  return Number.isSafeInteger(id) && id > 0 ? id : null;
}

/** Return the address with other filters, and without the document that was open. */
export function writeFilters(filters: Filters): URLSearchParams {
  const address = new URLSearchParams();
  for (const [name, value] of Object.entries(filters)) if (value) address.set(name, String(value));
  return address;
}

/** Return the query of the API. A Bates number finds the document whose range has it. */
export function toQuery(filters: Filters) {
  const { title, custodian, tag, bates } = filters;
  return {
    ...(title && { title }),
    ...(custodian && { custodian: [custodian] }),
    ...(tag && { tag: [tag] }),
    ...(bates && { batesFrom: bates, batesTo: bates }),
    ...(filters.import && { importId: filters.import }),
    ...(filters.changed && { changedByImport: filters.changed }),
  };
}

/** Whether the number of all that match is found by an index; a search in titles reads every document. */
export const isCounted = (filters: Filters) => !filters.title;
