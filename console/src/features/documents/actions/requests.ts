import { useMutation, useQuery, useQueryClient, type QueryClient } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../../api/client";
import { repeat } from "../../../api/repeat";
import { nextPoll } from "../../../ui/polling";
import type { Selected } from "../../../api/documentFilters";
import type { Batch } from "./batches";

export type Job = Schemas["TaggingJobSummary"];
export type Export = Schemas["Export"];
const NEWEST = 20;

/** Add the tag to the documents of a batch, or remove it, and return how many documents that changed. */
export function sendTagging({ ids, key }: Batch, tag: string, isRemoval: boolean): Promise<number> {
  const request = {
    params: { header: { "Idempotency-Key": key } },
    body: { exhibitIds: ids, tags: [tag] },
  };
  return repeat(async () =>
    isRemoval
      ? data(await api.DELETE("/taggings", request)).removed
      : data(await api.POST("/taggings", request)).created,
  );
}

/** Read again what tags are shown by: the list and the numbers of tags, in their places. */
export function refreshTags(queries: QueryClient, caseId: number): void {
  for (const key of ["documents", "documents-total", "facets", "count"])
    void queries.invalidateQueries({ queryKey: key === "facets" ? [key, "tags", caseId] : [key, caseId] });
  void queries.invalidateQueries({ queryKey: ["document"] });
}

/** The jobs of the case, the newest first, read again while one works. */
export function useJobs(caseId: number) {
  return useQuery({
    queryKey: ["tagging-jobs", caseId],
    staleTime: 0,
    queryFn: async ({ signal }) =>
      data(await api.GET("/tagging-jobs", { params: { query: { caseId, limit: NEWEST } }, signal })).items,
    refetchInterval: (query) => pollWhile(query.state.data, isWorking),
  });
}

/** The exports of the case, the newest first, read again while one works. */
export function useExports(caseId: number) {
  return useQuery({
    queryKey: ["exports", caseId],
    staleTime: 0,
    queryFn: async ({ signal }) =>
      data(await api.GET("/exports", { params: { query: { caseId, limit: NEWEST } }, signal })).items,
    refetchInterval: (query) => pollWhile(query.state.data, isWriting),
  });
}

/** One job or export, for an address that names it: the lists have the newest. */
export function useNamed(named: { kind: "export" | "tagging_job"; id: number } | null) {
  const { kind, id = 0 } = named ?? {};
  return useQuery({
    queryKey: [kind === "export" ? "exports" : "tagging-jobs", "named", id],
    enabled: named !== null,
    queryFn: async ({ signal }): Promise<Job | Export> =>
      kind === "export"
        ? data(await api.GET("/exports/{exportId}", { params: { path: { exportId: id } }, signal }))
        : data(await api.GET("/tagging-jobs/{jobId}", { params: { path: { jobId: id } }, signal })),
  });
}

export const isWorking = ({ status }: Pick<Job, "status">): boolean => status === "running" || status === "counting";
export const isWriting = ({ status }: Pick<Export, "status">): boolean =>
  status === "requested" || status === "running";

function pollWhile<T extends { createdAt: string }>(items: T[] | undefined, goesOn: (item: T) => boolean) {
  const newest = items?.find(goesOn);
  return newest ? nextPoll(Date.now() - Date.parse(newest.createdAt)) : (false as const);
}

export interface NewJob {
  key: string;
  caseName: string;
  query: Selected;
  tag: string;
  isRemoval: boolean;
}

/** Have all that match tagged. */
export function useStartJob(caseId: number) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ key, caseName, query, tag, isRemoval }: NewJob) =>
      repeat(async () => {
        const body = { case: caseName, query, ...(isRemoval ? { remove: [tag] } : { add: [tag] }) };
        return data(await api.POST("/tagging-jobs", { params: { header: { "Idempotency-Key": key } }, body }));
      }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["tagging-jobs", caseId] }),
  });
}

export interface NewExport {
  key: string;
  kind: Schemas["ExportKind"];
  format: Schemas["ExportFormat"];
  filters: Selected;
}

export function useStartExport(caseId: number) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ key, ...wish }: NewExport) =>
      repeat(async () => {
        const params = { header: { "Idempotency-Key": key } };
        return data(await api.POST("/exports", { params, body: { caseId, ...wish } }));
      }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["exports", caseId] }),
  });
}

/** Cancel a job or an export: what it has done stays. */
export function useCancel(caseId: number) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ what, id, key }: { what: "job" | "export"; id: number; key: string }) =>
      repeat(async () => {
        const header = { "Idempotency-Key": key };
        if (what === "job") await api.POST("/tagging-jobs/{jobId}/cancel", { params: { path: { jobId: id }, header } });
        else await api.POST("/exports/{exportId}/cancel", { params: { path: { exportId: id }, header } });
      }),
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: ["tagging-jobs", caseId] });
      void queries.invalidateQueries({ queryKey: ["exports", caseId] });
    },
  });
}

/** Have the browser download the file of an export. URLs live for a short time, so one is requested when it is needed. */
export function useDownload() {
  return useMutation({
    mutationFn: async (exportId: number) => {
      const file = data(await api.GET("/exports/{exportId}/file", { params: { path: { exportId } } }));
      // The response says that it is an attachment, so the page stays.
      const link = document.createElement("a");
      link.href = file.url;
      link.rel = "noreferrer";
      link.click();
    },
  });
}
