import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState, useSyncExternalStore } from "react";
import { isUnanswered, waitForNetwork } from "../../../api/reach";
import { Scroller } from "../../../ui/virtual";
import type { Filters } from "../../../api/documentFilters";
import { DocumentList } from "./document_list";
import { createSource, type Summary } from "./source";

export const ROW_PX = 28;
/** Rows of the first page that are taken to be in view before that is known. */
const FIRST_ROWS = 30;

/** How long the scrollbar rests before what is at its place is read. */
const REST_MS = 100;

export interface ListView {
  list: DocumentList<Summary>;
  scroller: Scroller;
  /** Show the document with this control number, or the first one after it, and return its position. */
  goTo: (controlNumber: string) => Promise<number>;
}

/**
 * The documents that match, of which those in view are read. It begins at `from`, if that is given. `total` is how many
 * there are, and undefined while that is not known.
 */
export function useDocumentList(caseId: number, filters: Filters, total: number | null | undefined): ListView {
  const queries = useQueryClient();
  const [view] = useState(() => {
    const source = createSource(queries, caseId, filters, (searched) => list.setSearched(searched));
    const list = new DocumentList(source, REST_MS);
    return createView(list);
  });
  const { list } = view;
  useSyncExternalStore(list.subscribe, list.getVersion);
  useEffect(() => connect(view, filters.from), [view]);
  useEffect(() => {
    if (total !== undefined) list.setTotal(total);
  }, [list, total]);
  const { error } = list;
  useEffect(() => {
    if (isUnanswered(error)) void waitForNetwork().then(() => list.retry());
  }, [list, error]);
  useRefresh(caseId, list);
  return view;
}

function createView(list: DocumentList<Summary>): ListView {
  const scroller = new Scroller(ROW_PX);
  const goTo = async (controlNumber: string) => {
    const index = Math.min(await list.locate(controlNumber), Math.max(list.pieces.total - 1, 0));
    list.keep("cursor", index);
    scroller.moveTo(index * ROW_PX);
    list.show(...scroller.rows);
    return list.kept.get("cursor")!;
  };
  return { list, scroller, goTo };
}

/** Read what the scroller shows, and scroll on where rows that come in move those in view. */
function connect({ list, scroller, goTo }: ListView, from: string | undefined): () => void {
  list.open();
  let top = 0;
  const keepTop = () => {
    top = list.findAnchor(...scroller.rows);
    list.kept.set("top", top);
  };
  const follow = () => {
    keepTop();
    if (scroller.viewHeight > 0) list.show(...scroller.rows);
  };
  // A place is found among as many rows as are guessed: it has to be in view when their number is known, too.
  let isPlaced = from === undefined;
  const correct = () => {
    const moved = (list.kept.get("top") ?? top) - top;
    top += moved;
    scroller.resize(list.pieces.total, scroller.viewHeight, moved * ROW_PX);
    const place = list.kept.get("cursor");
    if (isPlaced || !list.isCounted) return;
    isPlaced = true;
    if (place !== undefined) scroller.reveal(place);
    keepTop();
  };
  const ends = [list.subscribe(correct), scroller.subscribe(follow)];
  keepTop();
  if (from === undefined) list.show(0, FIRST_ROWS);
  else void goTo(from).catch(() => undefined);
  return () => {
    for (const end of ends) end();
    list.close();
  };
}

/** Read again what is shown when something has changed documents of the case: it invalidates `["documents", caseId]`. */
function useRefresh(caseId: number, list: DocumentList<Summary>) {
  const changed = useQuery({ queryKey: ["documents", caseId], queryFn: () => performance.now(), staleTime: Infinity });
  const [first] = useState(() => ({ at: changed.data }));
  useEffect(() => {
    if (first.at !== undefined && changed.data !== first.at) list.refresh();
    first.at = changed.data;
  }, [list, first, changed.data]);
}
