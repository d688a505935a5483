import { keepPreviousData, useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { ApiError, api, data, type Schemas } from "../../api/client";
import { isPassing, repeat } from "../../api/repeat";
import type { Range } from "./segments";
import { toApi } from "./times";

const PAGE = 100;
const MOST = 500;
const NAMES = 8;
const POLL_MS = 10_000;

/** Devices whose label has the words, or whose number begins with them. */
export function useDevices(search: string) {
  return useInfiniteQuery({
    queryKey: ["devices", search],
    initialPageParam: undefined as string | undefined,
    placeholderData: keepPreviousData,
    queryFn: async ({ pageParam, signal }) => {
      const query = { limit: PAGE, after: pageParam, ...(search ? { search } : {}) };
      return data(await api.GET("/devices", { params: { query }, signal }));
    },
    getNextPageParam: (page) => page.next ?? undefined,
  });
}

/** A device, or null if there is none of the number. It is read again while the page is open: others hand it on. */
export function useDevice(deviceId: number) {
  return useQuery({
    queryKey: ["custody", deviceId, "device"],
    refetchInterval: POLL_MS,
    queryFn: ({ signal }) => findDevice(deviceId, signal),
  });
}

/** Return a device from the list, which is in the order of the numbers; devices whose labels have the number are in it. */
export async function findDevice(deviceId: number, signal?: AbortSignal): Promise<Schemas["Device"] | null> {
  let after: string | undefined;
  for (;;) {
    const query = { search: String(deviceId), limit: MOST, after };
    const page: Schemas["DevicePage"] = data(await api.GET("/devices", { params: { query }, signal }));
    const found = page.items.find((each) => each.deviceId === deviceId);
    const isPast = page.items.some((each) => each.deviceId > deviceId);
    if (found || isPast || page.next === null) return found ?? null;
    after = page.next;
  }
}

/** The periods of a range, or of the whole history; the latest first, earlier ones as they are asked for. */
export function usePeriods(deviceId: number, range: Range | null) {
  return useInfiniteQuery({
    queryKey: ["custody", deviceId, "periods", range],
    initialPageParam: undefined as string | undefined,
    placeholderData: keepPreviousData,
    queryFn: async ({ pageParam, signal }) => {
      const bounds = range ? { from: toApi(range.from), to: toApi(range.to) } : {};
      const query = { deviceId, limit: MOST, order: "desc", after: pageParam, ...bounds } as const;
      return data(await api.GET("/custody-periods", { params: { query }, signal }));
    },
    getNextPageParam: (page) => page.next ?? undefined,
  });
}

export function useChanges(deviceId: number) {
  return useInfiniteQuery({
    queryKey: ["custody", deviceId, "changes"],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam, signal }) => {
      const query = { deviceId, limit: PAGE, order: "desc", after: pageParam } as const;
      return data(await api.GET("/custody-changes", { params: { query }, signal }));
    },
    getNextPageParam: (page) => page.next ?? undefined,
  });
}

/** Custodians of all cases that have the words in their names. */
export function useCustodians(search: string) {
  return useQuery({
    queryKey: ["custody-holders", search],
    enabled: search !== "",
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) =>
      data(await api.GET("/custodians", { params: { query: { search, limit: NAMES } }, signal })),
  });
}

/** Cases that have the words in their names, for a new custodian. */
export function useCaseNames(search: string) {
  return useQuery({
    queryKey: ["custody-cases", search],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const query = { limit: NAMES, sort: "-lastImportAt", ...(search ? { search } : {}) } as const;
      return data(await api.GET("/cases", { params: { query }, signal })).items.map((each) => each.name);
    },
  });
}

/** Return the period as it is now, or null if it was removed. */
export async function readPeriod(periodId: number): Promise<Schemas["CustodyPeriod"] | null> {
  try {
    return data(await api.GET("/custody-periods/{periodId}", { params: { path: { periodId } } }));
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

/**
 * A change that a user decides, and that takes effect once: sent again without an answer it has the same key. What was
 * refused, or is another wish, has a new one.
 */
export function useDecision<Wish, Answer>(send: (wish: Wish, key: string) => Promise<Answer>) {
  const sent = useRef<{ wish: string; key: string } | null>(null);
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (wish: Wish) => {
      const text = JSON.stringify(wish);
      if (sent.current?.wish !== text) sent.current = { wish: text, key: crypto.randomUUID() };
      const { key } = sent.current;
      return repeat(() => send(wish, key));
    },
    onSuccess: () => (sent.current = null),
    onError: (error) => {
      if (!isPassing(error)) sent.current = null;
    },
    // Also after a refusal: what refused it is shown.
    onSettled: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: ["custody"] }),
        queries.invalidateQueries({ queryKey: ["devices"] }),
      ]),
  });
}
