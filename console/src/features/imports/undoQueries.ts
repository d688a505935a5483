import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { api, data, type Schemas } from "../../api/client";
import { isUndone } from "./answer";
import { nextPoll } from "../../ui/polling";
import { hasEnded } from "./undo";

type Undo = Schemas["Undo"];

/** A request for an undo, with the key under which all attempts of it take effect once. */
export interface UndoWish {
  dryRun: boolean;
  key: string;
}

/** Request an undo or its dry run; what it finds or does is followed with `useUndo`. */
export function useRequestUndo(importId: number) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({ dryRun, key }: UndoWish) => {
      const params = { path: { importId }, header: { "Idempotency-Key": key } };
      return data(await api.POST("/imports/{importId}/undo", { params, body: { dryRun } })) as Undo;
    },
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ["undo", importId] });
      void queries.invalidateQueries({ queryKey: ["progress", importId] });
    },
  });
}

/** The last undo or dry run of an import, polled until it ends. */
export function useUndo(importId: number, enabled: boolean) {
  return useQuery({
    queryKey: ["undo", importId],
    enabled,
    staleTime: 0,
    queryFn: async ({ signal }) =>
      data(await api.GET("/imports/{importId}/undo", { params: { path: { importId } }, signal })) as Undo,
    refetchInterval: (query) => {
      const undo = query.state.data;
      return undo && !hasEnded(undo) ? nextPoll(Date.now() - Date.parse(undo.createdAt ?? "")) : false;
    },
  });
}

/** The undo of an import that is or was undone. The status of the import is read again when the undo ends. */
export function useUndoOf(state: Schemas["ImportState"]) {
  const undo = useUndo(state.id, isUndone(state));
  const queries = useQueryClient();
  const isOver = undo.data !== undefined && hasEnded(undo.data) && state.status === "undoing";
  useEffect(() => {
    if (isOver) void queries.invalidateQueries({ queryKey: ["progress", state.id] });
  }, [isOver, queries, state.id]);
  return undo;
}

/** The first documents that an undo or its dry run keeps, with the reasons. */
export function useKept(importId: number, undoNo: number | null, enabled: boolean) {
  return useQuery({
    queryKey: ["kept", importId, undoNo],
    enabled,
    queryFn: async ({ signal }) => {
      const params = { path: { importId }, query: { limit: 100 } };
      return data(await api.GET("/imports/{importId}/undo/kept", { params, signal })) as Schemas["KeptPage"];
    },
  });
}
