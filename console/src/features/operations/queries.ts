import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../api/client";

export type Operations = Schemas["Operations"];
export type RetriedEvents = Schemas["EventsRetried"];
const KEY = ["operations"];

/** What runs, waits and failed: read often while something is under way, and at leisure while nothing is. */
export function useOperations(isEnabled: boolean) {
  return useQuery({
    queryKey: KEY,
    enabled: isEnabled,
    queryFn: async ({ signal }) => data(await api.GET("/operations", { signal })) as Operations,
    refetchInterval: (query) => (query.state.data?.groups.some((each) => each.state !== "failed") ? 5_000 : 10_000),
    staleTime: 0,
  });
}

/** What the user has chosen to retry, with the key under which all attempts of it take effect once. */
export interface Chosen {
  what: "import" | "production" | "event" | "events";
  id: number;
  key: string;
}

/** Retry something, and pass on the message with its result. */
export function useRetry(onDone: (message: string) => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (chosen: Chosen) => send(chosen),
    onSuccess: onDone,
    onSettled: () => queries.invalidateQueries({ queryKey: KEY }),
  });
}

async function send({ what, id, key }: Chosen): Promise<string> {
  const header = { "Idempotency-Key": key };
  if (what === "import") {
    await api.POST("/imports/{importId}/retry", { params: { path: { importId: id }, header } });
    return `Import ${id} goes on.`;
  }
  if (what === "production") {
    await api.POST("/productions/{productionId}/retry", { params: { path: { productionId: id }, header } });
    return `Production ${id} goes on.`;
  }
  if (what === "event") {
    const params = { path: { eventId: id }, header };
    return describeRetried(data(await api.POST("/operations/events/{eventId}/retry", { params })) as RetriedEvents);
  }
  return describeRetried(data(await api.POST("/operations/events/retry", { params: { header } })) as RetriedEvents);
}

/** What came of a retry of events: those that another window retried before are not counted. */
export function describeRetried({ retried, left, leftIsLowerBound }: RetriedEvents): string {
  const done =
    retried === 0
      ? "Nothing was left to retry."
      : `${retried === 1 ? "1 event is" : `${retried.toLocaleString()} events are`} published again.`;
  if (left === 0) return done;
  return `${done} ${left.toLocaleString()}${leftIsLowerBound ? " or more are" : left === 1 ? " is" : " are"} left.`;
}
