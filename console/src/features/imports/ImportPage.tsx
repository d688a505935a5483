import { useEffect, useRef } from "react";
import { Link } from "wouter";
import type { Schemas } from "../../api/client";
import { Failure } from "../../ui/Failure";
import { announce } from "../../ui/LiveRegion";
import { Scale } from "../../ui/Scale";
import { toWords } from "../../ui/messages";
import { WaitingPage } from "../../ui/Skeleton";
import { isRunning, Status } from "../../ui/Status";
import { useTitle } from "../../ui/title";
import { Untrusted } from "../../ui/Untrusted";
import { formatBytes, formatDuration, Time } from "../../ui/values";
import { Actions } from "./Actions";
import { answer, countOpen } from "./answer";
import { CheckReport } from "./CheckReport";
import { Downloads } from "./Downloads";
import { Figures } from "./Figures";
import { Groups } from "./Groups";
import { useImport } from "./queries";
import { Reading } from "./Reading";
import { UndoState } from "./UndoState";
import { VolumePart } from "./VolumePart";
import "./imports.css";

type ImportState = Schemas["ImportState"];

export default function ImportPage({ importId }: { importId: number }) {
  const { progress, details } = useImport(importId);
  useAnnouncedStatus(progress.data);
  useTitle(`Import ${importId}`, progress.data?.case);
  const again = () => void progress.refetch();
  if (progress.isError && !progress.data) return <Failed importId={importId} error={progress.error} again={again} />;
  if (!progress.data) return <WaitingPage title={`Import ${importId}`} />;
  const state = progress.data;
  // Nothing was read of a file that was refused as a whole.
  const hasRows = state.status !== "failed" || state.rowsSeen > 0;
  return (
    <section className="page imports">
      <Title state={state} />
      {progress.isError && <Failure error={progress.error} again={again} />}
      {state.failureMessage && <FailureMessage state={state} />}
      <Answer state={state} />
      <Actions state={state} />
      {hasRows && state.status !== "undone" && <Scale outcome={{ ...state, open: countOpen(state) }} />}
      {hasRows && <Figures state={state} />}
      {isRunning(state.status) && state.status !== "undoing" && <Rate state={state} />}
      <UndoState state={state} />
      {details.data?.check && (
        <CheckReport importId={state.id} check={details.data.check} isRun={state.phase === "import"} />
      )}
      <VolumePart state={state} />
      {details.data && <Downloads details={details.data} />}
      <Groups state={state} />
      {details.data && <Reading details={details.data} />}
    </section>
  );
}

function Failed({ importId, error, again }: { importId: number; error: unknown; again: () => void }) {
  return (
    <section className="page imports">
      <p className="quiet crumbs">
        <Link href="/">Cases</Link>
      </p>
      <h1>Import {importId}</h1>
      <Failure error={error} again={again} />
    </section>
  );
}

function Title({ state }: { state: ImportState }) {
  return (
    <>
      <p className="quiet crumbs">
        <Link href="/">Cases</Link> /{" "}
        <Link href={`/cases/${state.caseId}/imports`}>
          <Untrusted text={state.case} />
        </Link>
      </p>
      <div className="bar">
        <h1>{state.phase === "check" ? `Check ${state.id}` : `Import ${state.id}`}</h1>
        <Status value={state.status} openRejections={state.corrects === null ? state.openRejections : undefined} />
      </div>
      <p className="quiet">
        <Untrusted text={state.fileName} /> · {formatBytes(state.size)} ·{" "}
        <Untrusted text={state.userName ?? state.userId} /> · <Time value={state.startedAt} />
        {state.corrects !== null && (
          <>
            {" "}
            · corrects <Link href={`/imports/${state.corrects}`}>import {state.corrects}</Link>
          </>
        )}
      </p>
    </>
  );
}

function FailureMessage({ state }: { state: ImportState }) {
  return (
    <div className="notice bad" role="alert">
      <p>
        <Untrusted text={toWords(state.failureMessage ?? "")} />
      </p>
      <p className="quiet">{state.failureCode}</p>
    </div>
  );
}

/** The first line answers the question of the page: is everything in, and if not, what is missing? */
function Answer({ state }: { state: ImportState }) {
  return <p className="answer">{answer(state)}</p>;
}

function Rate({ state }: { state: ImportState }) {
  const parts = [
    state.status === "splitting" && `${formatBytes(state.bytesRead)} of ${formatBytes(state.size)} read`,
    state.chunks > 0 && `${state.chunksDone.toLocaleString()} of ${state.chunks.toLocaleString()} parts`,
    state.rowsPerSecond !== null && `${Math.round(state.rowsPerSecond).toLocaleString()} rows a second`,
    state.secondsLeft !== null && `${formatDuration(state.secondsLeft)} left`,
  ];
  return <p className="quiet">{parts.filter(Boolean).join(" · ")}</p>;
}

/** Have the change of a status read aloud, but not the status that a page opens with. */
function useAnnouncedStatus(state: ImportState | undefined) {
  const last = useRef<string>(undefined);
  useEffect(() => {
    if (!state) return;
    if (last.current && last.current !== state.status) announce(`Import ${state.id}: ${answer(state)}`);
    last.current = state.status;
  }, [state]);
}
