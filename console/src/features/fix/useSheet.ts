// The draft of the page, and what rows do to it.
import { useMemo, useReducer, useState } from "react";
import { dropLines, setAsIs, setCell, setCells, setOut, type Draft } from "./draft";
import { START, step } from "./history";
import type { RowActions } from "./Row";
import type { SheetRow } from "./rows";

export type SheetState = ReturnType<typeof useSheet>;

export function useSheet() {
  const [history, dispatch] = useReducer(step, START);
  const [lastEdit, setLastEdit] = useState<{ line: number; at: number } | null>(null);
  const [compared, setCompared] = useState<SheetRow | null>(null);
  // One object for ever, so that a row is rendered only when it is another one.
  const fixed = useMemo(() => {
    const change = (place: string, how: (draft: Draft) => Draft) => dispatch({ do: "change", place, with: how });
    const replace = (how: (draft: Draft) => Draft) => dispatch({ do: "replace", with: how });
    const actions: Omit<RowActions, "onDrop" | "onSendAgain"> = {
      onText(row, at, text) {
        setLastEdit({ line: row.line, at });
        change(`${row.line}:${at}`, (draft) => setCell(draft, row, at, text));
      },
      onCells: (row, cells, place) => change(place, (draft) => setCells(draft, row, cells)),
      onJoin: (row, cells, other) =>
        change(`join ${row.line} ${other.line}`, (draft) => setOut(setCells(draft, row, cells), other, true)),
      onAsIs: (row, isAsIs) => change(`as is ${row.line} ${isAsIs}`, (draft) => setAsIs(draft, row, isAsIs)),
      onOut: (row, isOut) => change(`out ${row.line} ${isOut}`, (draft) => setOut(draft, row, isOut)),
      onCompare: setCompared,
      onClose: () => dispatch({ do: "close" }),
    };
    const drop = (line: number) => replace((draft) => dropLines(draft, [line]));
    return { change, replace, actions, drop, undo: () => dispatch({ do: "undo" }) };
  }, []);
  return { ...fixed, draft: history.draft, past: history.past, lastEdit, compared, setCompared };
}
