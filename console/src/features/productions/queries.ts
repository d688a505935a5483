import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../api/client";
import { nextPoll } from "../../ui/polling";
import { isRunning, isUnderWay } from "./states";

export const PAGE = 100;
const MOST = 500;
const VOLUME = /^VOL([0-9]{3,9})$/;

/** The productions of a case, newest first; one poll for all that are running. */
export function useProductions(caseId: number) {
  return useInfiniteQuery({
    queryKey: ["productions", caseId],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam, signal }) =>
      data(await api.GET("/productions", { params: { query: { caseId, limit: PAGE, after: pageParam } }, signal })),
    getNextPageParam: (page) => page.next ?? undefined,
    refetchInterval: (query) => {
      const shown = query.state.data?.pages.flatMap((page) => page.items) ?? [];
      const running = shown.filter(isUnderWay).map((each) => Date.now() - Date.parse(each.createdAt));
      return running.length ? Math.max(2_000, nextPoll(Math.min(...running))) : false;
    },
  });
}

export function useProduction(productionId: number) {
  return useQuery({
    queryKey: ["production", productionId],
    queryFn: async ({ signal }) => {
      const params = { path: { productionId } };
      return data(await api.GET("/productions/{productionId}", { params, signal })) as Schemas["Production"];
    },
    refetchInterval: ({ state: { data: production } }) =>
      production && isRunning(production) ? nextPoll(Date.now() - Date.parse(production.createdAt)) : false,
    staleTime: 0,
  });
}

/** The prefixes of a case, as many as a page has. */
export function usePrefixes(caseId: number) {
  return useQuery({
    queryKey: ["bates-prefixes", caseId],
    queryFn: async ({ signal }) => {
      const params = { query: { caseId, limit: MOST } };
      return data(await api.GET("/bates-prefixes", { params, signal })).items as Schemas["BatesPrefix"][];
    },
  });
}

/** The name after the last volume of the case that is named like VOL001, as the command chooses it. */
export function useNextVolume(caseId: number) {
  return useQuery({
    queryKey: ["next-volume", caseId],
    queryFn: async ({ signal }) => {
      let [last, after]: [number, string | undefined] = [0, undefined];
      do {
        const params = { query: { caseId, limit: MOST, after } };
        const page: Schemas["ProductionPage"] = data(await api.GET("/productions", { params, signal }));
        for (const { volume } of page.items) last = Math.max(last, Number(VOLUME.exec(volume)?.[1] ?? 0));
        after = page.next ?? undefined;
      } while (after !== undefined);
      return `VOL${String(last + 1).padStart(3, "0")}`;
    },
  });
}

/** Names of custodians or tags of the case that have the words. */
export function useNames(kind: "custodians" | "tags", caseId: number, words: string) {
  return useQuery({
    queryKey: ["names", kind, caseId, words],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const query = { caseId, limit: 20, ...(words ? { search: words } : {}) };
      const page = data(await api.GET(kind === "tags" ? "/tags" : "/custodians", { params: { query }, signal }));
      return page.items.map((each) => each.name);
    },
  });
}

/** A place in a list that is read in both directions. */
export interface Place {
  after?: string;
  before?: string;
}

/** A page of the documents with their numbers; the one before stays until it is there. */
export function useProducedDocuments(productionId: number, place: Place, version: unknown) {
  return useQuery({
    queryKey: ["produced-documents", productionId, place, version],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const params = { path: { productionId }, query: { limit: PAGE, ...place } };
      return data(await api.GET("/productions/{productionId}/documents", { params, signal }));
    },
  });
}

/** Pages of the files of a volume; their URLs end, so that they are not kept. */
export function useFiles(productionId: number) {
  return useInfiniteQuery({
    queryKey: ["produced-files", productionId],
    initialPageParam: undefined as string | undefined,
    gcTime: 0,
    queryFn: async ({ pageParam, signal }) => {
      const params = { path: { productionId }, query: { limit: PAGE, after: pageParam } };
      return data(await api.GET("/productions/{productionId}/files", { params, signal }));
    },
    getNextPageParam: (page) => page.next ?? undefined,
  });
}
