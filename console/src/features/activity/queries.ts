import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import { toQuery, type Filters } from "./filters";

const PAGE = 50;
const POLL_MS = 10_000;

const readPage = async (
  caseId: number | undefined,
  filters: Filters,
  after: string | undefined,
  signal: AbortSignal,
) => {
  const query = { limit: PAGE, after, ...(caseId === undefined ? {} : { caseId }), ...toQuery(filters) };
  return data(await api.GET("/activities", { params: { query }, signal }));
};

/** What was done, the newest first. What is read stays as it is: new activities do not push it away. */
export function useActivities(caseId: number | undefined, filters: Filters) {
  return useInfiniteQuery({
    queryKey: ["activities", caseId, filters],
    initialPageParam: undefined as string | undefined,
    staleTime: Infinity,
    gcTime: 0,
    queryFn: ({ pageParam, signal }) => readPage(caseId, filters, pageParam, signal),
    getNextPageParam: (page) => page.next ?? undefined,
  });
}

/**
 * The ids of the newest activities, as they are now. An activity can appear below others that were read before: its time
 * is that of its statement, and a long transaction commits later.
 */
export function useNewest(caseId: number | undefined, filters: Filters, enabled: boolean) {
  return useQuery({
    queryKey: ["activities-newest", caseId, filters],
    enabled,
    gcTime: 0,
    refetchInterval: POLL_MS,
    queryFn: async ({ signal }) => (await readPage(caseId, filters, undefined, signal)).items.map((each) => each.id),
  });
}

/** The names of users, by id: those of all ids with one request. */
export function useUserNames(ids: string[]) {
  const sorted = [...new Set(ids)].sort();
  return useQuery({
    queryKey: ["users", sorted],
    enabled: sorted.length > 0,
    staleTime: 60_000,
    queryFn: async ({ signal }) => {
      const { items } = data(await api.GET("/users", { params: { query: { ids: sorted.join(",") } }, signal }));
      return new Map(items.map((each) => [each.userId, each.name]));
    },
  });
}
