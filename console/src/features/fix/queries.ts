import { keepPreviousData, useQueries, useQuery } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../api/client";

export type State = Schemas["ImportState"];

const AGAIN = 10;
const WHOLE_PAGE = 500;

/** How the file was read, which does not change once it is split. */
export function useReading(importId: number) {
  return useQuery({
    queryKey: ["reading", importId],
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const details = data(await api.GET("/imports/{importId}", { params: { path: { importId } }, signal }));
      return (details as Schemas["ImportDetails"]).reading;
    },
  });
}

export function useOpenRows(importId: number, code: string | null, after: string | undefined, limit: number) {
  return useQuery({
    queryKey: ["open-rows", importId, code, after, limit],
    placeholderData: keepPreviousData,
    staleTime: 0,
    queryFn: async ({ signal }) => {
      const query = { open: "true", limit, after, ...(code ? { code } : {}) } as const;
      return data(
        await api.GET("/imports/{importId}/rejected-rows", { params: { path: { importId }, query }, signal }),
      );
    },
  });
}

/** Return the items of all pages: a row that is not read would be shown without what was entered in it. */
export async function readAll<Item>(
  read: (after: string | undefined) => Promise<{ items: Item[]; next: string | null }>,
): Promise<Item[]> {
  const items: Item[] = [];
  let after: string | undefined;
  do {
    const page = await read(after);
    items.push(...page.items);
    after = page.next ?? undefined;
  } while (after !== undefined);
  return items;
}

/** What the newest corrections rejected again; they are read once, and again when one of them has ended. */
export function useRejectedAgain(corrections: readonly number[]) {
  return useQueries({
    queries: corrections.slice(0, AGAIN).map((importId) => ({
      queryKey: ["rejected-again", importId],
      staleTime: Infinity,
      queryFn: async ({ signal }: { signal: AbortSignal }) => ({
        importId,
        rows: await readAll(async (after) => {
          const params = { path: { importId }, query: { limit: WHOLE_PAGE, after } };
          return data(await api.GET("/imports/{importId}/rejected-rows", { params, signal }));
        }),
      }),
    })),
    combine: (results) => ({
      isPending: results.some((each) => each.isPending),
      error: results.find((each) => each.error)?.error ?? null,
      pages: results.flatMap((each) => each.data ?? []),
    }),
  });
}

export function useCodeCounts(importId: number, openRejections: number) {
  return useQuery({
    queryKey: ["codes", importId, "fix", openRejections],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const found = data(await api.GET("/imports/{importId}/codes", { params: { path: { importId } }, signal }));
      const sums = new Map<string, number>();
      for (const { code, rows } of found.rejections) sums.set(code, (sums.get(code) ?? 0) + rows);
      return [...sums];
    },
  });
}

/** The document of the case with an id, as it is now; null if the case has none. */
export function useDocument(caseId: number, controlNumber: string) {
  return useQuery({
    queryKey: ["document-of-row", caseId, controlNumber],
    staleTime: 0,
    enabled: controlNumber !== "",
    queryFn: async ({ signal }) => {
      const query = { caseId, controlNumber, limit: 1 };
      const [found] = data(await api.GET("/exhibits", { params: { query }, signal })).items;
      if (!found) return null;
      const path = { exhibitId: found.id };
      return data(await api.GET("/exhibits/{exhibitId}", { params: { path }, signal })) as Schemas["Exhibit"];
    },
  });
}
