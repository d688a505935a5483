import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../api/client";
import { isCounted, toQuery, type Filters } from "./filters";

const PAGE = 100;
// Earlier pages are dropped, and read again on the way back.
const MOST_PAGES = 40;
const NAMES = 20;
// `include` is one parameter; the filters by names have one value each.
const JOINED = { array: { style: "form", explode: false } } as const;

/** Where a page begins or ends; the list begins at its start without any. */
interface Place {
  after?: string;
  before?: string;
  from?: string;
}

/** Pages of documents in the order of their control numbers, from the place that the filters name, in both directions. */
export function useDocuments(caseId: number, filters: Filters) {
  const first: Place = filters.from ? { from: filters.from } : {};
  return useInfiniteQuery({
    queryKey: ["documents", caseId, filters],
    initialPageParam: first as Place,
    maxPages: MOST_PAGES,
    placeholderData: keepPreviousData,
    queryFn: async ({ pageParam, signal }) => {
      const include: ("custodians" | "tags")[] = ["custodians", "tags"];
      const query = { caseId, limit: PAGE, include, ...toQuery(filters), ...pageParam };
      return data(await api.GET("/exhibits", { params: { query }, querySerializer: JOINED, signal }));
    },
    getNextPageParam: (page): Place | undefined => (page.next ? { after: page.next } : undefined),
    getPreviousPageParam: (page): Place | undefined => (page.prev ? { before: page.prev } : undefined),
  });
}

/** How many documents match, beside the list, which does not wait for it. */
export function useTotal(caseId: number, filters: Filters) {
  const { from: _place, ...counted } = filters;
  return useQuery({
    queryKey: ["documents-total", caseId, counted],
    enabled: isCounted(filters),
    queryFn: async ({ signal }) => {
      const query = { caseId, limit: 1, count: true, ...toQuery(counted) };
      return data(await api.GET("/exhibits", { params: { query }, signal }));
    },
  });
}

export function useDocument(exhibitId: number) {
  return useQuery({
    queryKey: ["document", exhibitId],
    queryFn: async ({ signal }) =>
      data(await api.GET("/exhibits/{exhibitId}", { params: { path: { exhibitId } }, signal })) as Schemas["Exhibit"],
  });
}

/** Names of custodians or tags of the case that have the words. */
export function useNames(kind: "custodians" | "tags", caseId: number, words: string) {
  return useQuery({
    queryKey: ["names", kind, caseId, words],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const query = { caseId, limit: NAMES, ...(words ? { search: words } : {}) };
      const page = data(await api.GET(kind === "tags" ? "/tags" : "/custodians", { params: { query }, signal }));
      return page.items.map((each) => each.name);
    },
  });
}

export function useCase(caseId: number) {
  return useQuery({
    queryKey: ["case", caseId],
    queryFn: async ({ signal }) => data(await api.GET("/cases/{caseId}", { params: { path: { caseId } }, signal })),
  });
}
