import { useRef, useState } from "react";
import { Link, useSearchParams } from "wouter";
import { useRefusal } from "../../api/cases";
import { useMe } from "../../api/me";
import { Failure } from "../../ui/Failure";
import { LeaveGuard } from "../../ui/LeaveGuard";
import { Skeleton, WaitingPage } from "../../ui/Skeleton";
import { Status } from "../../ui/Status";
import { useTitle } from "../../ui/title";
import { Untrusted } from "../../ui/Untrusted";
import { decideAccess, type Access } from "./access";
import { count } from "../../ui/values";
import { chooseJoiner } from "./cells";
import { nameReason } from "../../ui/codes";
import { Compare } from "./Compare";
import { cellsOf, setAlike, setOut, setVersion, type Draft } from "./draft";
import "./fix.css";
import { Footer } from "./Footer";
import { Huge } from "./Huge";
import { Loads } from "./Loads";
import { NarrowRows } from "./NarrowRows";
import { useProgress } from "../imports/queries";
import type { State } from "./queries";
import { chooseColumns, type Column } from "./rows";
import { Sheet } from "./Sheet";
import { Toolbar } from "./Toolbar";
import { useCorrecting } from "./useCorrecting";
import { undo, useFixKeys } from "./useFixKeys";
import { useIsNarrow } from "./useIsNarrow";
import { limitRows, usePage } from "./usePage";
import { useRows } from "./useRows";
import type { SheetState } from "./useSheet";

const HUGE = 1_000;

export default function FixPage({ importId }: { importId: number }) {
  const progress = useProgress(importId);
  const me = useMe();
  const isNarrow = useIsNarrow();
  const refusal = useRefusal(progress.data?.caseId);
  useTitle(`Fix import ${importId}`, progress.data?.case);
  const failed = progress.error ?? me.error;
  if (failed && !progress.data)
    return (
      <section className="page">
        <p className="quiet crumbs">
          <Link href="/">Cases</Link>
        </p>
        <h1>Fix import {importId}</h1>
        <Failure error={failed} again={() => void (progress.refetch(), me.refetch())} />
      </section>
    );
  if (!progress.data) return <WaitingPage title={`Fix import ${importId}`} />;
  const access = decideAccess(progress.data, me.data?.role, isNarrow, refusal);
  return (
    <section className="page fix">
      <Title state={progress.data} access={access} />
      <Rows state={progress.data} access={access} isNarrow={isNarrow} />
    </section>
  );
}

function Title({ state, access }: { state: State; access: Access }) {
  return (
    <>
      <p className="quiet crumbs">
        <Link href="/">Cases</Link> /{" "}
        <Link href={`/cases/${state.caseId}/imports`}>
          <Untrusted text={state.case} />
        </Link>{" "}
        / <Link href={`/imports/${state.id}`}>Import {state.id}</Link>
      </p>
      <div className="bar">
        <h1>Fix import {state.id}</h1>
        <Status value={state.status} openRejections={state.openRejections} />
        <span className="quiet">
          <Untrusted text={state.fileName} />
        </span>
      </div>
      {state.openRejections > 0 && (
        <p className="answer">
          {count(state.openRejections, state.kind === "images" ? "document" : "row")} of{" "}
          {state.rowsSeen.toLocaleString()} {state.openRejections === 1 ? "is" : "are"} not in the case.
        </p>
      )}
      {access.sentence && <p className="notice">{access.sentence}</p>}
      {state.corrects !== null && <Link href={`/imports/${state.corrects}/fix`}>Fix import {state.corrects}</Link>}
    </>
  );
}

/** The sheet with what is above and below it. */
function Rows({ state, access, isNarrow }: { state: State; access: Access; isNarrow: boolean }) {
  const [search, setSearch] = useSearchParams();
  const [isAll, setAll] = useState(false);
  const [width, setWidth] = useState(0);
  const code = search.get("code");
  const page = usePage();
  const listed = useRows(state, code, page.after, limitRows(width, isAll));
  const { columns } = listed;
  if (columns.length !== width && !listed.isPending) setWidth(columns.length);
  const work = useCorrecting(state.id, listed.rows, columns.length);
  const { sheet, rows } = work;
  const element = useRef<HTMLDivElement>(null);
  const { isSending } = work.footer;
  useFixKeys({ element, isOn: access.canEdit, rows: listed.rows, load: work.load, isSending, sheet });
  const shown = chooseColumns(rows, columns, isAll);
  const setCode = (next: string | null) => {
    page.first();
    setSearch(next ? { code: next } : {});
  };
  const changed = sheet.draft.changes.size + sheet.draft.out.size;
  return (
    <>
      <Loads loads={work.loads.list} onEnd={work.loads.end} />
      {work.left > 0 && <p>{count(work.left, "row")} left out for good.</p>}
      {listed.error && <Failure error={listed.error} again={listed.refetch} />}
      {state.openRejections > HUGE && <Huge importId={state.id} openRejections={state.openRejections} />}
      {(rows.length > 0 || code) && (
        <Toolbar
          importId={state.id}
          openRejections={state.openRejections}
          code={code}
          onCode={setCode}
          columns={isNarrow ? 0 : columns.length}
          isAll={isAll}
          onAll={setAll}
          rows={rows.length}
          page={page}
          next={listed.next}
        />
      )}
      {listed.isPending && !listed.error && <Skeleton rows={6} />}
      {!listed.isPending && rows.length === 0 && <Nothing state={state} code={code} onAll={() => setCode(null)} />}
      {rows.length > 0 && isNarrow && <NarrowRows rows={rows} columns={columns} shown={shown} />}
      {rows.length > 0 && !isNarrow && (
        <Sheet
          importId={state.id}
          sheet={element}
          rows={rows}
          columns={columns}
          shown={shown}
          joiner={chooseJoiner(listed.reading?.delimiter)}
          draft={sheet.draft}
          refusals={work.refusals}
          inFlight={work.inFlight}
          sent={work.sent}
          isReadOnly={!access.canEdit}
          canLoad={access.canLoad}
          lastEdit={sheet.lastEdit}
          actions={work.actions}
          onAlike={(alike, at, text) =>
            sheet.change(`alike ${at} ${text}`, (draft) => setAlike(draft, alike, at, text))
          }
        />
      )}
      {access.canEdit && (rows.length > 0 || changed > 0) && (
        <Footer
          {...work.footer}
          canLoad={access.canLoad}
          canUndo={sheet.past.length > 0}
          onUndo={() => undo(element.current, sheet)}
        />
      )}
      <Compared state={state} access={access} columns={columns} sheet={sheet} />
      <LeaveGuard isActive={changed > 0} title="Your changes are not imported" leave="Leave, and lose the changes">
        <p>What you changed in {count(changed, "row")} is kept on this page only. Import it before you leave.</p>
      </LeaveGuard>
    </>
  );
}

interface ComparedProps {
  state: State;
  access: Access;
  columns: readonly Column[];
  sheet: SheetState;
}

function Compared({ state, access, columns, sheet }: ComparedProps) {
  const row = sheet.compared;
  if (!row) return null;
  const isChanged = row.errors.some((each) => each.code === "DOCUMENT_CHANGED");
  const finish = (place: string, how: (draft: Draft) => Draft) => {
    sheet.change(place, how);
    sheet.setCompared(null);
  };
  const onVersion = (version: number) => finish(`version ${row.line}`, (draft) => setVersion(draft, row, version));
  const onOut = () => finish(`out ${row.line} true`, (draft) => setOut(draft, row, true));
  return (
    <Compare
      caseId={state.caseId}
      row={row}
      cells={cellsOf(sheet.draft, row)}
      columns={columns}
      onVersion={access.canLoad && isChanged ? onVersion : undefined}
      onOut={access.canEdit ? onOut : undefined}
      onClose={() => sheet.setCompared(null)}
    />
  );
}

function Nothing({ state, code, onAll }: { state: State; code: string | null; onAll: () => void }) {
  const isEnded = state.status.startsWith("completed") && state.corrects === null && state.phase === "import";
  if (state.openRejections === 0 && !isEnded) return <p className="quiet">No rejected row is open here.</p>;
  if (state.openRejections === 0)
    return (
      <div className="notice good" role="status">
        <strong>✓ Nothing is open in this import.</strong>
        <p>
          Every row of the file is in the case, or was left out.{" "}
          <Link href={`/imports/${state.id}`}>Go to the import</Link>
        </p>
      </div>
    );
  return (
    <div className="empty">
      <p>{code ? `No row with the reason “${nameReason(code)}” is open.` : "No row is open on this page."}</p>
      <button type="button" onClick={onAll}>
        Show all open rows
      </button>
    </div>
  );
}
