// What the list could be narrowed by, with numbers, and what the filters of an empty list exclude.
import { keepPreviousData, useQueries, useQuery } from "@tanstack/react-query";
import { useDeferredValue } from "react";
import { api, data } from "../../api/client";
import { listParts, toQuery, withoutPlace, type Filters, type Part } from "../../api/documentFilters";

const NAMES = 20;
const IMPORTS = 10;

export type Kind = "custodians" | "tags";

/** A custodian or tag, with its documents in the whole case. */
export interface Facet {
  name: string;
  documents: number;
}

/** The first custodians or tags of the case that have the words, with their documents in the whole case. */
export function useFacets(kind: Kind, caseId: number, words: string) {
  return useQuery({
    queryKey: ["facets", kind, caseId, words],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const query = { caseId, limit: NAMES, ...(words ? { search: words } : {}) };
      const page = data(await api.GET(kind === "tags" ? "/tags" : "/custodians", { params: { query }, signal }));
      return { items: page.items as Facet[], hasMore: page.next !== null };
    },
  });
}

/** The names that have what is typed, and whether they are those for what is typed now. */
export function useTyped(kind: Kind, caseId: number, typed: string) {
  const name = typed.trim();
  const words = useDeferredValue(name);
  const found = useFacets(kind, caseId, words);
  return { found, isCurrent: words === name && found.data !== undefined && !found.isPlaceholderData };
}

/** The newest imports of the case that brought documents. */
export function useImportsOf(caseId: number) {
  return useQuery({
    queryKey: ["imports-with-documents", caseId],
    queryFn: async ({ signal }) => {
      const query = { caseId, limit: IMPORTS };
      const page = data(await api.GET("/imports", { params: { query }, signal }));
      return page.items.filter((each) => each.phase === "import" && each.imported > 0);
    },
  });
}

/** How many documents match. */
export interface Total {
  count: number;
  isAtLeast: boolean;
}

async function countMatches(caseId: number, filters: Filters, signal: AbortSignal): Promise<Total> {
  const query = { caseId, limit: 1, count: true, ...toQuery(withoutPlace(filters)) };
  const page = data(await api.GET("/exhibits", { params: { query }, signal }));
  return { count: page.total ?? 0, isAtLeast: page.totalIsLowerBound ?? false };
}

/** How many documents match; counted while it is needed. */
export function useCountOf(caseId: number, filters: Filters, enabled: boolean) {
  return useQuery({
    queryKey: ["count", caseId, withoutPlace(filters)],
    enabled,
    queryFn: ({ signal }) => countMatches(caseId, filters, signal),
  });
}

/** A filter, and how many documents match without it: undefined until it is known, null if the server does not count. */
export interface Excluded {
  part: Part;
  total: Total | null | undefined;
}

/** Without which filter how many documents would match, the most first. All are counted at the same time. */
export function useExcluded(caseId: number, filters: Filters, enabled: boolean): Excluded[] {
  const parts = listParts(withoutPlace(filters));
  const counted = useQueries({
    queries: parts.map(({ without }) => ({
      queryKey: ["count", caseId, without],
      enabled,
      retry: false,
      queryFn: ({ signal }: { signal: AbortSignal }) => countMatches(caseId, without, signal),
    })),
  });
  const found = parts.map((part, index): Excluded => {
    const { data: total, isError } = counted[index]!;
    return { part, total: isError ? null : total };
  });
  return found.sort((a, b) => (b.total?.count ?? -1) - (a.total?.count ?? -1));
}
