import { useInfiniteQuery, useQuery, type QueryClient } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../../api/client";
import type { Exhibit } from "./fields";

const MEMBERS = 100;
const FILES = 50;
const CHANGES = 20;

const keyOfDocument = (exhibitId: number) => ["document", exhibitId];

/** A document; it is read again when the user comes back to the window, where others may have changed or removed it. */
export function useDetail(exhibitId: number) {
  return useQuery({
    queryKey: keyOfDocument(exhibitId),
    refetchOnWindowFocus: "always",
    queryFn: async ({ signal }) => data(await readDocument(exhibitId, signal)) as Exhibit,
  });
}

export const readDocument = (exhibitId: number, signal?: AbortSignal) =>
  api.GET("/exhibits/{exhibitId}", { params: { path: { exhibitId } }, signal });

/** Return the newest changes of a document. */
export async function readChanges(exhibitId: number, limit: number): Promise<Schemas["ExhibitHistoryEntry"][]> {
  const params = { path: { exhibitId }, query: { limit } };
  return data(await api.GET("/exhibits/{exhibitId}/changes", { params })).items;
}

/** The whole family of a document, itself included, in the order of control numbers. */
export function useFamily({ id, caseId, controlNumber, version }: Exhibit) {
  return useInfiniteQuery({
    queryKey: ["family", id, version],
    initialPageParam: null as string | null,
    queryFn: async ({ pageParam, signal }) => {
      const query = { caseId, family: controlNumber, limit: MEMBERS, ...(pageParam && { after: pageParam }) };
      return data(await api.GET("/exhibits", { params: { query }, signal }));
    },
    getNextPageParam: (page) => page.next,
  });
}

export function useFiles(exhibitId: number, version: number) {
  return useInfiniteQuery({
    queryKey: ["document-files", exhibitId, version],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) => readFiles(exhibitId, pageParam, signal),
    getNextPageParam: (page) => page.next,
  });
}

export async function readFiles(exhibitId: number, after: string | null, signal?: AbortSignal) {
  const params = { path: { exhibitId }, query: { limit: FILES, ...(after && { after }) } };
  return data(await api.GET("/exhibits/{exhibitId}/files", { params, signal })) as Schemas["ExhibitFileList"];
}

/** The changes of a document, the newest first; another version has another history. */
export function useHistory(exhibitId: number, version: number) {
  return useInfiniteQuery({
    queryKey: ["document-changes", exhibitId, version],
    initialPageParam: null as string | null,
    queryFn: async ({ pageParam, signal }) => {
      const query = { limit: CHANGES, ...(pageParam && { after: pageParam }) };
      return data(await api.GET("/exhibits/{exhibitId}/changes", { params: { path: { exhibitId }, query }, signal }));
    },
    getNextPageParam: (page) => page.next,
  });
}

/** Have everything that shows a document read again. */
export function refreshDocument(queries: QueryClient, exhibitId: number): void {
  void queries.invalidateQueries({ queryKey: keyOfDocument(exhibitId) });
  for (const name of ["documents", "documents-total", "names", "family", "keys"])
    void queries.invalidateQueries({ queryKey: [name] });
}
