import { useEffect, useImperativeHandle, useRef, useState, type KeyboardEvent, type MouseEvent, type Ref } from "react";
import { Actions } from "./actions/Actions";
import { Failure } from "../../ui/Failure";
import { useKeys } from "../../ui/keys";
import { announce } from "../../ui/LiveRegion";
import { Skeleton } from "../../ui/Skeleton";
import { Count } from "../../ui/values";
import { DocumentsGrid } from "./DocumentsGrid";
import { useCase } from "../../api/cases";
import { withoutPlace, writeFilters, type Filters } from "../../api/documentFilters";
import { useDocumentList } from "./list/useDocumentList";
import { NoMatches } from "./filtering/NoMatches";
import { SelectionLine } from "./SelectionLine";
import { ALL, choose, isChosen, isEmpty, measure, NOTHING, toggle, type ActionProps, type Size } from "./selection";
import { isPlain, sayChosen, sayToggled, useCursor } from "./useCursor";
import { useMatching } from "./useMatching";
import { useShown, type Named } from "./useShown";

interface ListProps {
  caseId: number;
  caseName: string | null;
  filters: Filters;
  open: number | null;
  onOpen: (id: number, replace: boolean) => void;
  onCount: (size: Size) => void;
  goTo: Ref<(controlNumber: string) => void>;
}

/** The documents that match these filters, with what is chosen of them. */
export function DocumentsList(props: ListProps) {
  const { caseId, filters, open } = props;
  const { matching, total } = useMatching(caseId, filters);
  const view = useDocumentList(caseId, filters, total);
  const { list } = view;
  const cursor = useCursor(view);
  const shown = useShown(open, caseId, filters.from !== undefined, view, cursor);
  const [selection, setSelection] = useState(NOTHING);
  const size = measure(selection, matching);
  const isWalking = useRef(false);
  const box = useRef<HTMLDivElement>(null);
  // What was read to its end is counted, also where one search does not count it.
  const read = list.isRead && list.isCounted ? { count: list.pieces.total, isAtLeast: false } : null;
  const shownSize = matching && !matching.isAtLeast ? matching : (read ?? matching);

  const move = (to: number) => {
    cursor.move(to);
    isWalking.current = open !== null;
  };
  const change = (changed: typeof selection) => {
    setSelection(changed);
    const chosen = measure(changed, matching);
    if (chosen) sayChosen(chosen.count);
  };
  const openListed = (id: number, replace: boolean) => {
    shown.markOpened(id);
    props.onOpen(id, replace);
  };
  const openRow = () => {
    cursor.reveal();
    if (cursor.row) openListed(cursor.row.id, open !== null);
  };
  const toggleOne = ({ id, controlNumber }: Named) => {
    const changed = toggle(selection, id);
    setSelection(changed);
    sayToggled(controlNumber, isChosen(changed, id), measure(changed, matching)?.count);
  };
  // With an open document it is that one, wherever the cursor is: what is chosen is what one sees.
  const toggleShown = () => {
    if (open === null) {
      cursor.reveal();
      return cursor.row && toggleOne(cursor.row);
    }
    const { document: opened, place } = shown;
    if (!opened) return announce("This document is not loaded yet, and is not chosen.");
    const placed = place(opened).catch(() => false);
    if (selection.kind === "some") return toggleOne(opened);
    // Of all that match, only one that does can be left out.
    void placed.then((isListed) =>
      isListed ? toggleOne(opened) : announce(`${opened.controlNumber} is not in the list, and is not chosen.`),
    );
  };
  const extend = (to: number) => {
    const from = cursor.index ?? to;
    const range = Array.from({ length: Math.abs(to - from) + 1 }, (_, at) => Math.min(from, to) + at);
    const rows = range.map((index) => list.pieces.row(index));
    if (rows.every((row) => row !== null))
      change(
        choose(
          selection,
          rows.map((row) => row.id),
        ),
      );
    else announce("These documents are too far apart. Filter for them, and choose all that match.");
  };
  const step = (key: string) => {
    const to = cursor.find(key, shown.isBeforeCursor);
    if (to === null) return;
    move(to);
    // From anywhere on the page, so that Enter opens what the key has led to; beside an open document it stays there.
    if (open === null) box.current?.querySelector<HTMLElement>("[role=grid]")?.focus({ preventScroll: true });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!isPlain(event)) return;
    const to = event.key.length === 1 ? null : cursor.find(event.key, shown.isBeforeCursor && !event.shiftKey);
    if (to !== null) {
      if (event.shiftKey) {
        cursor.reveal();
        extend(to);
      }
      move(to);
    } else if (event.key === "Enter") openRow();
    else if (event.key === " ") toggleShown();
    else return;
    event.preventDefault();
  };
  const onPoint = (index: number, event: MouseEvent) => {
    const row = list.pieces.row(index);
    if (event.shiftKey) extend(index);
    cursor.move(index);
    const isLink = event.target instanceof Element && event.target.closest("a");
    if (row && !isLink && !event.shiftKey) openListed(row.id, open !== null);
  };
  const onToggle = (index: number, event: MouseEvent) => {
    const row = list.pieces.row(index);
    if (event.shiftKey) extend(index);
    else if (row) toggleOne(row);
    cursor.move(index);
  };

  useKeys("Documents", [
    { keys: "j", does: "next document", run: () => step("j") },
    { keys: "k", does: "previous document", run: () => step("k") },
    { keys: "PageDown", does: "in the list: a screen on; also the arrows, PageUp, Home and End", run: null },
    { keys: "Enter", does: "in the list: open the document", run: null },
    { keys: "x", does: "choose the document, or undo that", run: toggleShown },
    { keys: "Shift ArrowDown", does: "in the list: choose the next document too", run: null },
  ]);
  useImperativeHandle(props.goTo, () => (controlNumber: string) => {
    void view.goTo(controlNumber).then(
      (index) => {
        announce(`Document ${(index + 1).toLocaleString("en-US")}.`);
        // Beside the list is the document that it shows.
        if (open !== null) move(index);
      },
      () => undefined,
    );
  });
  useEffect(() => {
    if (isWalking.current && open !== null && cursor.row && cursor.row.id !== open) openListed(cursor.row.id, true);
    isWalking.current = isWalking.current && cursor.row === null;
  });
  useEffect(() => {
    if (shownSize) props.onCount(shownSize);
  }, [shownSize?.count]);

  const failure = list.error !== null && <Failure error={list.error} again={() => list.retry()} />;
  const searched = list.error === null && list.searched > 0 && <Searched caseId={caseId} documents={list.searched} />;
  if (!list.isRead)
    return (
      failure || (
        <div className="stack">
          {searched}
          <Skeleton rows={8} />
        </div>
      )
    );
  if (list.pieces.total === 0) return <NoMatches caseId={caseId} filters={filters} />;
  const actions: ActionProps = {
    ...{ caseId, caseName: props.caseName, filters: withoutPlace(filters), selection, size },
    clear: () => setSelection(NOTHING),
  };
  return (
    <div className="stack" ref={box}>
      {failure}
      <Total size={shownSize} isCounting={total === undefined} />
      {searched}
      <DocumentsGrid
        view={view}
        cursor={cursor.index}
        open={open}
        isChosen={(id) => isChosen(selection, id)}
        areAllChosen={selection.kind === "all" && selection.except.size === 0}
        hrefOf={(id) => hrefOf(caseId, id, filters)}
        onKeyDown={onKeyDown}
        onPoint={onPoint}
        onToggle={onToggle}
        onToggleAll={() => change(selection.kind === "all" ? NOTHING : ALL)}
      />
      {!isEmpty(selection, matching) && (
        <SelectionLine selection={selection} size={size} matching={matching} onChange={change}>
          <Actions {...actions} />
        </SelectionLine>
      )}
    </div>
  );
}

function hrefOf(caseId: number, id: number, filters: Filters): string {
  const address = writeFilters(filters);
  address.set("open", String(id));
  return `/cases/${caseId}/documents?${address}`;
}

/** How far the search for the next documents is. */
function Searched({ caseId, documents }: { caseId: number; documents: number }) {
  const all = useCase(caseId).data?.documents;
  return (
    <p className="quiet">
      Looked at <Count value={all === undefined ? documents : Math.min(documents, all)} />
      {all !== undefined && (
        <>
          {" "}
          of about <Count value={all} />
        </>
      )}{" "}
      documents
    </p>
  );
}

function Total({ size, isCounting }: { size: Size | null; isCounting: boolean }) {
  return (
    <p className="quiet">
      {size === null ? (
        isCounting ? (
          "Counting how many match…"
        ) : (
          "The number of matches is not known yet. Scroll down to read more."
        )
      ) : (
        <>
          {size.isAtLeast && "At least "}
          <Count value={size.count} /> {size.count === 1 ? "document" : "documents"}
          {size.isAtLeast && "; go on down, and more are read"}
        </>
      )}
    </p>
  );
}
