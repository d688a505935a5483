import { useEffect } from "react";
import { Link } from "wouter";
import { Failure } from "../../ui/Failure";
import { announce } from "../../ui/LiveRegion";
import { toWords } from "../../ui/messages";
import { isRunning } from "../../ui/Status";
import { describeLoad, type Load } from "./corrections";
import { useProgress } from "../imports/queries";
import type { State } from "./queries";

/** The corrections of this visit, the newest first: how far each is, and what came of it. */
export function Loads({ loads, onEnd }: { loads: readonly Load[]; onEnd: (load: Load, state: State) => void }) {
  if (loads.length === 0) return null;
  return (
    <ul className="loads">
      {loads.map((load) => (
        <Line key={load.importId} load={load} onEnd={onEnd} />
      ))}
    </ul>
  );
}

function Line({ load, onEnd }: { load: Load; onEnd: (load: Load, state: State) => void }) {
  const progress = useProgress(load.importId);
  const state = progress.data;
  const isEnded = state !== undefined && !isRunning(state.status);
  useEffect(() => {
    if (!isEnded) return;
    announce(describeLoad(state));
    onEnd(load, state);
    // Once for each end: `onEnd` and `load` are those of that moment.
  }, [isEnded, state?.generation]);
  if (progress.isError && !state)
    return (
      <li>
        <Failure error={progress.error} again={() => void progress.refetch()} />
      </li>
    );
  const tone = !isEnded ? "busy" : state.status === "completed" ? "good" : state.status === "failed" ? "bad" : "warn";
  return (
    <li>
      <span className={`status ${tone}`}>{isEnded ? state.status.replaceAll("_", " ") : "importing"}</span>{" "}
      {isEnded ? describeLoad(state) : describeRunning(load, state)}{" "}
      <Link href={`/imports/${load.importId}`}>Open import {load.importId}</Link>
      {state?.failureMessage && <p>{toWords(state.failureMessage)}</p>}
    </li>
  );
}

function describeRunning(load: Load, state: State | undefined): string {
  const all = state?.rowsSeen || load.sent.length;
  return `${(state?.rowsProcessed ?? 0).toLocaleString()} of ${all.toLocaleString()} rows looked at. You can go on.`;
}
