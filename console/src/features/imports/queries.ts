import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../api/client";
import { nextPoll } from "../../ui/polling";
import { isRunning } from "../../ui/Status";

const PAGE = 100;

function pollWhile(isBusy: (state: Schemas["ImportState"]) => boolean) {
  return (query: { state: { data?: Schemas["ImportState"] } }) => {
    const state = query.state.data;
    return state && isBusy(state) ? nextPoll(Date.now() - Date.parse(state.startedAt)) : false;
  };
}

export function useProgress(importId: number) {
  const path = { importId };
  return useQuery({
    queryKey: ["progress", importId],
    queryFn: async ({ signal }) =>
      data(await api.GET("/imports/{importId}/progress", { params: { path }, signal })) as Schemas["ImportState"],
    refetchInterval: pollWhile((state) => isRunning(state.status)),
    staleTime: 0,
  });
}

/** The import as a whole, read again when its progress says that it has ended. */
export function useImport(importId: number) {
  const path = { importId };
  const progress = useProgress(importId);
  const state = progress.data;
  const details = useQuery({
    queryKey: ["import", importId, state?.status, state?.generation, state?.openRejections],
    enabled: state !== undefined,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) =>
      data(await api.GET("/imports/{importId}", { params: { path }, signal })) as Schemas["ImportDetails"],
  });
  return { progress, details };
}

export function useCodes(importId: number, state: Schemas["ImportState"] | undefined) {
  return useQuery({
    queryKey: ["codes", importId, state?.rejected, state?.warnings, state?.openRejections],
    enabled: state !== undefined,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) =>
      data(await api.GET("/imports/{importId}/codes", { params: { path: { importId } }, signal })),
  });
}

export function useRejections(importId: number, code: string, column: string | null) {
  return useInfiniteQuery({
    queryKey: ["rejections", importId, code, column],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam, signal }) => {
      const query = { code, limit: PAGE, after: pageParam, ...(column === null ? {} : { column }) };
      return data(await api.GET("/imports/{importId}/rejections", { params: { path: { importId }, query }, signal }));
    },
    getNextPageParam: (page) => page.next ?? undefined,
  });
}

export function useWarnings(importId: number, code: string, column: string | null) {
  return useInfiniteQuery({
    queryKey: ["warnings", importId, code, column],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam, signal }) => {
      const query = { code, limit: PAGE, after: pageParam, ...(column === null ? {} : { column }) };
      return data(await api.GET("/imports/{importId}/warnings", { params: { path: { importId }, query }, signal }));
    },
    getNextPageParam: (page) => page.next ?? undefined,
  });
}

export function useImports(caseId: number) {
  return useInfiniteQuery({
    queryKey: ["imports", caseId],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam, signal }) =>
      data(await api.GET("/imports", { params: { query: { caseId, limit: PAGE, after: pageParam } }, signal })),
    getNextPageParam: (page) => page.next ?? undefined,
    refetchInterval: (query) => {
      const shown = query.state.data?.pages.flatMap((page) => page.items) ?? [];
      return shown.some((each) => isRunning(each.status)) ? 5_000 : false;
    },
  });
}
