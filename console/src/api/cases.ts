import { useQuery, type QueryClient } from "@tanstack/react-query";
import { api, data, type Schemas } from "./client";

export type Case = Schemas["CaseSummary"];

/** A case; without an id it is not read. */
export function useCase(caseId: number | undefined) {
  return useQuery({
    queryKey: ["case", caseId],
    enabled: caseId !== undefined,
    queryFn: async ({ signal }) =>
      data(await api.GET("/cases/{caseId}", { params: { path: { caseId: caseId! } }, signal })) as Case,
  });
}

/** Whether a case takes no changes, because it is closed or purged: false until that is known. */
export function useIsClosed(caseId: number | undefined): boolean {
  const status = useCase(caseId).data?.status;
  return status !== undefined && status !== "open";
}

/** Have everything that shows the status or the name of a case read again. */
export async function refreshCase(queries: QueryClient, caseId: number): Promise<void> {
  const keys = [["case", caseId], ["cases"], ["cases-found"], ["case-of"]];
  await Promise.all(keys.map((queryKey) => queries.invalidateQueries({ queryKey })));
}
