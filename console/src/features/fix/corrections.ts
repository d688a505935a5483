// Sending corrections, and following the imports that they become.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, api, data, type Schemas } from "../../api/client";
import { toBody, type Change } from "./draft";
import type { State } from "./queries";

/** A request with the key under which all attempts of it take effect once. */
export interface Request {
  key: string;
  rows: readonly Change[];
  body: Schemas["NewCorrections"];
}

/** A correction on its way, with what was sent: it goes back into the sheet if its import ends without the rows. */
export interface Load {
  importId: number;
  sent: readonly Change[];
  isEnded: boolean;
}

export interface Refusals {
  byLine: ReadonlyMap<number, string>;
  /** At most 20 lines are named; the others may be refused as well. */
  isWhole: boolean;
}

const MOST_ERRORS = 20;

/** Return the reason of each line that a response has refused; null for another problem. */
export function readRefusals(error: unknown, body: Schemas["NewCorrections"]): Refusals | null {
  if (!(error instanceof ApiError) || error.code !== "correction-refused") return null;
  const byLine = new Map<number, string>();
  for (const { location, message } of error.problem.errors ?? []) {
    const [, part, index] = location.split("/");
    const line = part === "rows" ? body.rows?.[Number(index)]?.line : body.discard?.[Number(index)];
    if (line !== undefined) byLine.set(line, message);
  }
  return byLine.size ? { byLine, isWhole: byLine.size < MOST_ERRORS } : null;
}

/**
 * Return the request for these changes: the same one again, with its key, if it has failed and they are what it had. It
 * may have taken effect all the same. What was changed since is another request.
 */
export function makeRequest(rows: readonly Change[], discard: readonly number[], failed: Request | undefined): Request {
  const body = { rows: rows.map(toBody), discard: [...discard] };
  if (failed && JSON.stringify(failed.body) === JSON.stringify(body)) return failed;
  return { key: crypto.randomUUID(), rows, body };
}

export function useCorrections(importId: number, onTaken: (request: Request, answer: Schemas["Correction"]) => void) {
  const [refusals, setRefusals] = useState<ReadonlyMap<number, string>>(new Map());
  const queries = useQueryClient();
  const sending = useMutation({
    mutationFn: async ({ key, body }: Request) => {
      const params = { path: { importId }, header: { "Idempotency-Key": key } };
      return data(await api.POST("/imports/{importId}/corrections", { params, body }));
    },
    onSuccess: (answer, request) => onTaken(request, answer),
    onError: (error, request) => {
      const refused = readRefusals(error, request.body);
      if (refused) setRefusals((before) => new Map([...before, ...refused.byLine]));
    },
    onSettled: () => refresh(queries, importId),
  });
  const dropRefusal = (line: number) => setRefusals((before) => new Map([...before].filter(([each]) => each !== line)));
  return { sending, refusals, dropRefusal };
}

export function refresh(queries: ReturnType<typeof useQueryClient>, importId: number): void {
  void queries.invalidateQueries({ queryKey: ["progress", importId] });
  void queries.invalidateQueries({ queryKey: ["open-rows", importId] });
}

/** Say what a correction has done, in one sentence. */
export function describeLoad(state: State): string {
  const done = state.imported + state.updated + state.unchanged;
  const all = Math.max(state.rowsSeen, done + state.rejected);
  if (state.status === "failed") return `Import ${state.id} failed, and its rows are open again.`;
  if (state.status === "cancelled") return `Import ${state.id} was cancelled: ${done} of ${all} rows were imported.`;
  const sum = `${done.toLocaleString()} of ${all.toLocaleString()} imported by import ${state.id}`;
  if (state.rejected === 0) return `${sum}.`;
  return `${sum}; ${state.rejected.toLocaleString()} ${state.rejected === 1 ? "was" : "were"} rejected again.`;
}
