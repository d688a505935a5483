import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useState } from "react";
import { announce } from "../../ui/LiveRegion";
import { count } from "../../ui/values";
import { makeRequest, readRefusals, refresh, useCorrections, type Load, type Request } from "./corrections";
import { dropLines, MAX_ROWS, restore, sortChanges, takeBatch, type Change, type Draft } from "./draft";
import type { State } from "./queries";
import type { SheetRow } from "./rows";
import { useSheet } from "./useSheet";

/** The whole of a visit: the draft, what of it was sent, and what came back. */
export function useCorrecting(importId: number, listed: readonly SheetRow[], width: number) {
  const sheet = useSheet();
  const { draft } = sheet;
  const [left, setLeft] = useState(0);
  const loads = useLoads(importId, listed, sheet.replace);
  const { sending, refusals, dropRefusal } = useCorrections(importId, (request, answer) => {
    sheet.replace((before) => dropLines(before, listLines(request)));
    if (answer.id !== null) loads.add({ importId: answer.id, sent: request.rows, isEnded: false });
    setLeft((before) => before + answer.discarded);
    if (answer.discarded) announce(`${count(answer.discarded, "row")} left out.`);
  });
  const rows = useMemo(() => addRefused(listed, draft, refusals), [listed, draft, refusals]);
  const changes = sortChanges(draft, width, refusals);
  const batch = takeBatch(changes.ready);
  const out = [...draft.out.keys()].filter((line) => !refusals.has(line)).slice(0, MAX_ROWS);
  const failed = sending.isError ? sending.variables : undefined;
  const [loading, leaving] = [makeRequest(batch, [], failed), makeRequest([], out, failed)];
  const load = () => void (batch.length && !sending.isPending && sending.mutate(loading));
  const sent = collectSent(loads.list);
  const shown = new Set(rows.map((row) => row.line));
  const touched = new Set([...draft.changes.keys(), ...draft.out.keys()]);
  const isRefusal = sending.variables && readRefusals(sending.error, sending.variables.body) !== null;
  return {
    sheet,
    rows,
    loads,
    left,
    refusals,
    load,
    actions: useMemo(
      () => ({
        ...sheet.actions,
        onDrop: (line: number) => (sheet.drop(line), dropRefusal(line)),
        onSendAgain: dropRefusal,
      }),
      [sheet.actions, sheet.drop, dropRefusal],
    ),
    // Lines that are sent are not changed until their import has ended, and show what was sent.
    inFlight: new Set([...(sending.isPending ? listLines(sending.variables) : []), ...sent.keys()]),
    sent,
    footer: {
      changes,
      batch: batch.length,
      out: out.length,
      refused: refusals.size,
      elsewhere: [...touched].filter((line) => !shown.has(line)).length,
      isSending: sending.isPending,
      error: isRefusal ? null : sending.error,
      onLoad: load,
      onLeaveOut: () => sending.mutate(leaving),
      // What is on the page is sent, and never what it was when the request failed.
      onAgain: failed && [loading, leaving].includes(failed) ? () => sending.mutate(failed) : undefined,
    },
  };
}

/** Return what is on its way, by line. */
export function collectSent(loads: readonly Load[]): ReadonlyMap<number, Change> {
  const changes = loads.filter((each) => !each.isEnded).flatMap((each) => each.sent);
  return new Map(changes.map((change) => [change.row.line, change]));
}

const listLines = ({ body }: Request): number[] => [
  ...(body.rows ?? []).map((row) => row.line),
  ...(body.discard ?? []),
];

/** A refused row stays in view until the user has decided, although it is not open any more. */
function addRefused(listed: readonly SheetRow[], draft: Draft, refusals: ReadonlyMap<number, string>): SheetRow[] {
  const shown = new Set(listed.map((row) => row.line));
  const gone = [...refusals.keys()]
    .filter((line) => !shown.has(line))
    .flatMap((line) => draft.changes.get(line)?.row ?? draft.out.get(line) ?? []);
  return [...listed, ...gone].sort((one, other) => one.line - other.line);
}

/** The corrections on their way: those of this page, and those that its rows are in. */
function useLoads(importId: number, rows: readonly SheetRow[], replace: (how: (draft: Draft) => Draft) => void) {
  const [list, setList] = useState<readonly Load[]>([]);
  const queries = useQueryClient();
  const add = useCallback((load: Load) => {
    setList((before) => addLoad(before, load));
  }, []);
  useEffect(() => {
    for (const { takenBy } of rows) if (takenBy !== null) add({ importId: takenBy, sent: [], isEnded: false });
  }, [rows, add]);
  const end = (load: Load, state: State) => {
    setList((before) => before.map((each) => (each.importId === load.importId ? { ...each, isEnded: true } : each)));
    if (hasLostRows(state)) replace((draft) => restore(draft, load.sent));
    void queries.invalidateQueries({ queryKey: ["rejected-again", load.importId] });
    refresh(queries, importId);
  };
  return { list, add, end };
}

/** Return the list with a correction; one that the rows have named before gets what this page has sent. */
export function addLoad(list: readonly Load[], load: Load): readonly Load[] {
  const known = list.find((each) => each.importId === load.importId);
  if (!known) return [load, ...list];
  return load.sent.length ? list.map((each) => (each === known ? { ...known, sent: load.sent } : each)) : list;
}

/** Whether an import ended before it has looked at its rows: they are open as they were sent. */
function hasLostRows(state: State): boolean {
  const isEarly = state.status === "failed" || state.status === "cancelled" || state.chunksFailed > 0;
  return isEarly && state.imported + state.updated + state.unchanged === 0;
}
