// The filters of a list of activities live in the address, so that a link shows what its sender saw.
import { beginOf } from "./days";

export interface Filters {
  user?: string;
  /** The type and the id of an object, such as `import:7`. */
  object?: string;
  action?: string;
  /** A local day, such as `2026-11-27`. */
  from?: string;
}

const OBJECT = /^[a-z_]{1,32}:[1-9][0-9]{0,15}$/;

/** Return the filters of an address; what is none is left out. */
export function readFilters(address: URLSearchParams): Filters {
  const read = (name: string) => address.get(name)?.trim() || undefined;
  const [object, from] = [read("object"), read("from")];
  return {
    user: read("user"),
    object: object && OBJECT.test(object) ? object : undefined,
    action: read("action"),
    from: from && beginOf(from) ? from : undefined,
  };
}

export function writeFilters(filters: Filters): string {
  const address = new URLSearchParams();
  for (const [name, value] of Object.entries(filters)) if (value) address.set(name, value);
  const query = address.toString();
  return query && `?${query}`;
}

/** Return the query of the API. */
export function toQuery({ from, ...filters }: Filters) {
  const given = Object.fromEntries(Object.entries(filters).filter(([, value]) => value)) as Omit<Filters, "from">;
  return { ...given, ...(from ? { from: beginOf(from)!.toISOString() } : {}) };
}

export const hasFilters = (filters: Filters): boolean => Object.values(filters).some(Boolean);
