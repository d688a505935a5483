import type { QueryClient } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../../api/client";
import { toQuery, type Filters } from "../../../api/documentFilters";
import type { Place, Reading, Source } from "./reads";
import { search } from "./search";

export type Summary = Schemas["ExhibitSummary"];

/**
 * Read pages and samples of the documents that match, as other reads of the page: repeated after an outage.
 * `onSearched` gets how many documents a page has searched in that has no rows yet.
 */
export function createSource(
  queries: QueryClient,
  caseId: number,
  filters: Filters,
  onSearched: (searched: number) => void,
): Source<Summary> {
  const matching = { caseId, ...toQuery(filters) };
  const read = <T>(queryKey: readonly unknown[], queryFn: (at: { signal: AbortSignal }) => Promise<T>): Reading<T> => ({
    answer: queries.fetchQuery({ queryKey, queryFn, gcTime: 0, staleTime: 0 }),
    cancel: () => void queries.cancelQueries({ queryKey, exact: true }),
  });
  return {
    readPage: (place, limit) => {
      const include: ("custodians" | "tags")[] = ["custodians", "tags"];
      const key = ["documents-page", { ...matching, include, ...place, limit }];
      return read(key, ({ signal }) => {
        const readAt = async (at: Place) =>
          data(await api.GET("/exhibits", { params: { query: { ...matching, include, ...at, limit } }, signal }));
        return search(readAt, place, onSearched);
      });
    },
    readKeys: (sample) => {
      const query = { ...matching, ...sample };
      return read(["documents-keys", query], async ({ signal }) =>
        data(await api.GET("/exhibits/keys", { params: { query }, signal })),
      );
    },
  };
}
