import { useInfiniteQuery, useQuery, useQueryClient, type QueryKey } from "@tanstack/react-query";
import { useCallback } from "react";
import { api, data, type Schemas } from "../../api/client";
import { toQuery, type Filters } from "../../api/documentFilters";
import { fetchBytes } from "./tiff/fetchBytes";
import { readHead } from "./imageHead";
import { identify, type Renew } from "./renewal";
import type { ExhibitFile } from "./views";

const PAGES = 500;
/** A signed URL is valid for an hour; it is signed anew well before. */
const FRESH_MS = 40 * 60_000;
const HEAD_BYTES = 64 * 1024;
/** The native, the text, and the first page, which is not needed. */
const FILES = 3;

/** The document as it is when the viewer is opened or returned to: another version has other files. */
export function useExhibit(exhibitId: number) {
  return useQuery({
    queryKey: ["document", exhibitId],
    staleTime: 0,
    refetchOnWindowFocus: "always",
    queryFn: async ({ signal }) =>
      data(await api.GET("/exhibits/{exhibitId}", { params: { path: { exhibitId } }, signal })) as Schemas["Exhibit"],
  });
}

type FilesQuery = { limit: number; fromPage?: number; download?: boolean };

const listFiles = async (exhibitId: number, query: FilesQuery, signal?: AbortSignal) =>
  data(await api.GET("/exhibits/{exhibitId}/files", { params: { path: { exhibitId }, query }, signal })).items;

async function readPageFile(exhibitId: number, page: number, signal?: AbortSignal): Promise<ExhibitFile | null> {
  const [found] = await listFiles(exhibitId, { fromPage: page, limit: 1 }, signal);
  return found?.page === page ? found : null;
}

async function readOwnFiles(exhibitId: number, signal?: AbortSignal) {
  const found = await listFiles(exhibitId, { limit: FILES }, signal);
  const find = (kind: ExhibitFile["kind"]) => found.find((each) => each.kind === kind) ?? null;
  return { native: find("native"), text: find("text") };
}

/** Keys end with the version; what an earlier one had is shown until the answer for this one is there. */
function keepUntilRead(key: QueryKey) {
  return <Found>(known: Found | undefined, from?: { queryKey: QueryKey }): Found | undefined =>
    key.slice(0, -1).every((each, at) => from?.queryKey[at] === each) ? known : undefined;
}

const pageKey = (exhibitId: number, page: number) => ["viewer-page", exhibitId, page];
const ownKey = (exhibitId: number) => ["viewer-files", exhibitId];

const pageQuery = (exhibitId: number, version: number, page: number) => ({
  queryKey: [...pageKey(exhibitId, page), version],
  staleTime: FRESH_MS,
  gcTime: FRESH_MS,
  refetchInterval: FRESH_MS,
  queryFn: ({ signal }: { signal: AbortSignal }) => readPageFile(exhibitId, page, signal),
});

/** The file of a page of the exhibit, with a URL that works; null if there is no such page. */
export function usePageFile(exhibitId: number, version: number, page: number) {
  const query = pageQuery(exhibitId, version, page);
  return useQuery({ ...query, placeholderData: keepUntilRead(query.queryKey) });
}

/** Return what gets the file of a page before it is needed. */
export function usePrefetch(exhibitId: number, version: number) {
  const queries = useQueryClient();
  return useCallback(
    (page: number) => queries.fetchQuery(pageQuery(exhibitId, version, page)),
    [queries, exhibitId, version],
  );
}

/** The native and the text of the exhibit, with URLs that work. */
export function useOwnFiles(exhibitId: number, version: number) {
  const queryKey = [...ownKey(exhibitId), version];
  return useQuery({
    queryKey,
    placeholderData: keepUntilRead(queryKey),
    staleTime: FRESH_MS,
    gcTime: FRESH_MS,
    refetchInterval: FRESH_MS,
    queryFn: ({ signal }) => readOwnFiles(exhibitId, signal),
  });
}

/** Return what gets the native or the text with a new URL. Another file in its place is returned, and not shown. */
export function useRenewOwn(exhibitId: number, kind: "native" | "text"): Renew {
  const queries = useQueryClient();
  return useCallback(
    async (shown) => {
      const found = await readOwnFiles(exhibitId);
      const fresh = found[kind];
      if (fresh && identify(fresh) === identify(shown)) queries.setQueriesData({ queryKey: ownKey(exhibitId) }, found);
      return fresh;
    },
    [queries, exhibitId, kind],
  );
}

/** As `useRenewOwn`, for a page. */
export function useRenewPage(exhibitId: number, page: number): Renew {
  const queries = useQueryClient();
  return useCallback(
    async (shown) => {
      const fresh = await readPageFile(exhibitId, page);
      if (fresh && identify(fresh) === identify(shown))
        queries.setQueriesData({ queryKey: pageKey(exhibitId, page) }, fresh);
      return fresh;
    },
    [queries, exhibitId, page],
  );
}

/** Return what has the document and its files read again, so that the page shows them as they are now. */
export function useReload(exhibitId: number): () => Promise<void> {
  const queries = useQueryClient();
  return useCallback(async () => {
    const names = ["document", "viewer-files", "viewer-page", "viewer-pages"];
    await Promise.all(names.map((name) => queries.invalidateQueries({ queryKey: [name, exhibitId] })));
  }, [queries, exhibitId]);
}

/** Return a new URL that makes the browser save a file; null if there is none, or another file in its place. */
export async function signDownload(exhibitId: number, file: ExhibitFile): Promise<string | null> {
  const place = file.page === null ? { limit: FILES } : { fromPage: file.page, limit: 1 };
  const found = await listFiles(exhibitId, { ...place, download: true });
  const fresh = found.find((each) => each.kind === file.kind && each.page === file.page);
  return fresh && identify(fresh) === identify(file) ? fresh.url : null;
}

/** The pages of the exhibit with their keys and rotations, read as far as they are needed. */
export function usePages(exhibitId: number, version: number) {
  const queryKey = ["viewer-pages", exhibitId, version];
  return useInfiniteQuery({
    queryKey,
    placeholderData: keepUntilRead(queryKey),
    staleTime: FRESH_MS,
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam, signal }) => {
      const query = { limit: PAGES, ...(pageParam ? { after: pageParam } : {}) };
      return data(await api.GET("/exhibits/{exhibitId}/pages", { params: { path: { exhibitId }, query }, signal }));
    },
    getNextPageParam: (page) => page.next ?? undefined,
  });
}

/** The documents before and after this one in the list that the filters describe; null where it has none. */
export function useNeighbours(caseId: number, controlNumber: string | undefined, filters: Filters) {
  const { from: _place, ...matching } = filters;
  return useQuery({
    queryKey: ["neighbours", caseId, controlNumber, matching],
    enabled: controlNumber !== undefined,
    queryFn: async ({ signal }) => {
      const read = async (order: "asc" | "desc") => {
        const query = { caseId, limit: 2, order, from: controlNumber!, ...toQuery(matching) };
        const page = data(await api.GET("/exhibits", { params: { query }, signal }));
        return page.items.find((each) => each.controlNumber !== controlNumber) ?? null;
      };
      const [previous, next] = await Promise.all([read("desc"), read("asc")]);
      return { previous, next };
    },
  });
}

/** What the first bytes of a file say that it is. */
export function useHead(file: ExhibitFile) {
  return useQuery({
    queryKey: ["viewer-head", identify(file), file.url],
    staleTime: Infinity,
    retry: 1,
    queryFn: async ({ signal }) => {
      const { bytes, size } = await fetchBytes(file.url!, 0, HEAD_BYTES, signal);
      return { ...readHead(bytes), size };
    },
  });
}
