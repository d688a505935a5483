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

/** What a request does to a case: it writes or starts work, also removes something, or reads or ends work. */
export type Entry = "change" | "remove" | "end";

const PURGED = "The case is purged, or is being purged: nothing can be done in it.";
const CLOSED = "The case is closed: nothing can be imported or changed until an administrator reopens it.";
const HELD = "The case is under a legal hold: nothing of it can be removed until an administrator lifts the hold.";

/** Why a case refuses such requests, null if it takes them: the rule of the server, which decides. */
export function explainRefusal({ status, hold }: Pick<Case, "status" | "hold">, entry: Entry): string | null {
  if (status === "purging" || status === "purged") return PURGED;
  if (status === "closed" && entry !== "end") return CLOSED;
  return hold && entry === "remove" ? HELD : null;
}

/** The same of a case that is read; null until that is known. */
export function useRefusal(caseId: number | undefined, entry: Entry = "change"): string | null {
  const found = useCase(caseId).data;
  return found === undefined ? null : explainRefusal(found, entry);
}

/** Have everything that shows the status or the name of a case read again. */
export async function refreshCase(queries: QueryClient, caseId: number): Promise<void> {
  const keys = [["case", caseId], ["cases"], ["cases-found"], ["case-of"]];
  await Promise.all(keys.map((queryKey) => queries.invalidateQueries({ queryKey })));
}
