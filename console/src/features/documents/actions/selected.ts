// The chosen documents as requests and addresses have them.
import {
  isFiltered,
  writeFilters,
  toQuery,
  withoutPlace,
  type Filters,
  type Selected,
} from "../../../api/documentFilters";
import type { Selection } from "../selection";

/** How many documents a request can name, or leave out. */
export const MOST_NAMED = 1_000;
/** How many documents the address of a new production can name. */
export const MOST_PRODUCED = 200;

/** Return the chosen documents as filters of the API; null if too many are named or left out one by one. */
export function toSelected(filters: Filters, selection: Selection): Selected | null {
  if (selection.kind === "some") return selection.ids.size > MOST_NAMED ? null : { ids: [...selection.ids] };
  const except = [...new Set([...(filters.except ?? []), ...selection.except])];
  if (except.length > MOST_NAMED) return null;
  return toQuery({ ...withoutPlace(filters), except });
}

/**
 * Return the path of a new production of the chosen documents; null if its address cannot say which these are. Nothing
 * that is left out may be produced, so that what the page would not read is not handed over.
 */
export function hrefToProduce(caseId: number, filters: Filters, selection: Selection): string | null {
  const path = `/cases/${caseId}/productions/new`;
  if (selection.kind === "some")
    return selection.ids.size > MOST_PRODUCED ? null : `${path}?ids=${[...selection.ids].join(",")}`;
  const { ids, except, ...others } = withoutPlace(filters);
  if (selection.except.size > 0 || except) return null;
  if (ids) return isFiltered(others) || ids.length > MOST_PRODUCED ? null : `${path}?ids=${ids.join(",")}`;
  return isFiltered(others) ? `${path}?${writeFilters(others)}` : `${path}?all=1`;
}

/** Return the filters of the address for those of the API; null for a filter that the address does not have. */
export function fromSelected(query: Record<string, unknown>): Filters | null {
  const { importId, changedByImport, exceptIds, ...others } = query as Selected;
  if (others.controlNumber || others.parent) return null;
  const named = { import: importId, changed: changedByImport, except: exceptIds };
  return { ...others, ...Object.fromEntries(Object.entries(named).filter(([, value]) => value)) } as Filters;
}
