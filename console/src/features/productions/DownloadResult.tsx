import { Failure } from "../../ui/Failure";
import { Untrusted } from "../../ui/Untrusted";
import { count, formatBytes } from "../../ui/values";
import type { DownloadState, Failed } from "./download/download";

const LISTED = 20;

interface ResultProps {
  state: DownloadState;
  /** The folder that the files are in; null for a zip. */
  place: string | null;
  onAgain: () => void;
  onReplace: () => void;
  onCancel: () => void;
  onClose: () => void;
}

/** How far a download is, or how it ended: with all hashes equal, or with what is not there and how to get it. */
export function DownloadResult(props: ResultProps) {
  const { state, place } = props;
  const end = (
    <button type="button" onClick={props.onClose}>
      Close
    </button>
  );
  switch (state.status) {
    case "running":
      return <Progress state={state} onCancel={props.onCancel} />;
    case "done":
      return (
        <div className="notice good" role="status">
          <strong>{count(state.files ?? 0, "file")}, all hashes equal</strong>
          <p>
            {describeBytes(state)}
            {state.there > 0 && `, ${state.there.toLocaleString()} were there already`}
            {place !== null && (
              <>
                , in <Untrusted text={place} />
              </>
            )}
            .
          </p>
          {end}
        </div>
      );
    case "cancelled":
      return (
        <div className="notice">
          <p>
            {place === null
              ? "The download was stopped. No zip was saved."
              : `The download was stopped. ${count(state.done, "file")} with their hashes are in the folder.`}
          </p>
          {end}
        </div>
      );
    case "stopped":
      return (
        <>
          <Failure error={state.fault} again={props.onAgain} isByHand />
          <Reached state={state} />
          <Stop {...props} />
        </>
      );
    case "incomplete":
      return (
        <>
          <div className="notice bad" role="alert">
            <strong>
              {state.done.toLocaleString()} of {count(state.files ?? 0, "file")}
            </strong>
            <p>
              {place === null
                ? "The zip is saved when every file is in it."
                : "The volume is not complete. What is there has its hash."}
            </p>
          </div>
          {state.failed.length > 0 && <FailedFiles failed={state.failed} onAgain={props.onAgain} />}
          {state.other.length > 0 && <OtherFiles other={state.other} onReplace={props.onReplace} />}
          <Stop {...props} />
        </>
      );
  }
}

const describeBytes = ({ bytes }: DownloadState) => formatBytes(bytes ?? 0);

function Progress({ state, onCancel }: { state: DownloadState; onCancel: () => void }) {
  const { files, bytes } = state;
  return (
    <div>
      <p>
        {files === null
          ? "Reading the manifest…"
          : `${state.done.toLocaleString()} of ${count(files, "file")} · ${formatBytes(state.arrived)} of ${formatBytes(bytes ?? 0)} received`}
        {state.failed.length > 0 && <span className="left"> · {state.failed.length.toLocaleString()} failed</span>}
      </p>
      <div className="bar">
        <progress aria-label="Files of the volume" value={state.done} max={Math.max(files ?? 1, 1)} />
        <button type="button" onClick={onCancel}>
          Stop
        </button>
      </div>
    </div>
  );
}

function Reached({ state }: { state: DownloadState }) {
  if (state.files === null) return null;
  return (
    <p className="quiet">
      {state.done.toLocaleString()} of {count(state.files, "file")} are there with their hashes.
    </p>
  );
}

function Stop({ onCancel, onClose }: ResultProps) {
  const stop = () => (onCancel(), onClose());
  return (
    <button type="button" onClick={stop}>
      Give it up
    </button>
  );
}

function FailedFiles({ failed, onAgain }: { failed: Failed[]; onAgain: () => void }) {
  return (
    <div>
      <p>{count(failed.length, "file")} did not arrive:</p>
      <ul>
        {failed.slice(0, LISTED).map(({ path, why }) => (
          <li key={path}>
            <span className="mono">
              <Untrusted text={path} />
            </span>
            : {why}
          </li>
        ))}
        {failed.length > LISTED && <li>and {(failed.length - LISTED).toLocaleString()} more</li>}
      </ul>
      <div className="bar">
        <button type="button" className="primary" onClick={onAgain}>
          Try again
        </button>
      </div>
    </div>
  );
}

function OtherFiles({ other, onReplace }: { other: string[]; onReplace: () => void }) {
  return (
    <div>
      <p>
        {count(other.length, "file")} in the folder {other.length === 1 ? "has" : "have"} other content than the volume,
        and {other.length === 1 ? "was" : "were"} left as {other.length === 1 ? "it is" : "they are"}:
      </p>
      <ul>
        {other.slice(0, LISTED).map((path) => (
          <li key={path} className="mono">
            <Untrusted text={path} />
          </li>
        ))}
        {other.length > LISTED && <li>and {(other.length - LISTED).toLocaleString()} more</li>}
      </ul>
      <div className="bar">
        <button type="button" className="primary" onClick={onReplace}>
          Replace {count(other.length, "file")}
        </button>
      </div>
    </div>
  );
}
