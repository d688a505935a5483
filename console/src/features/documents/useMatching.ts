import { isCounted, type Filters } from "../../api/documentFilters";
import { useTotal } from "./queries";
import type { Size } from "./selection";

/**
 * How many documents match, and how many rows the list of them has: null where that is not known because one
 * search does not count them, undefined while they are counted.
 */
export function useMatching(
  caseId: number,
  filters: Filters,
): { matching: Size | null; total: number | null | undefined } {
  const counted = useTotal(caseId, filters);
  if (!isCounted(filters) || counted.isError) return { matching: null, total: null };
  if (!counted.data || counted.data.total == null) return { matching: null, total: undefined };
  const { total, totalIsLowerBound } = counted.data;
  const isAtLeast = totalIsLowerBound ?? false;
  return { matching: { count: total, isAtLeast }, total: isAtLeast ? null : total };
}
