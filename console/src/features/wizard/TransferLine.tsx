import { useEffect, useRef, useSyncExternalStore } from "react";
import type { Thing, Transfer, TransferSnapshot } from "../../upload";
import { announce } from "../../ui/LiveRegion";
import { Untrusted } from "../../ui/Untrusted";
import { formatBytes, formatDuration } from "../../ui/values";
import { count } from "../../ui/values";

export function useTransfer(transfer: Transfer | undefined): TransferSnapshot | null {
  return useSyncExternalStore(
    (listener) => transfer?.subscribe(listener) ?? (() => undefined),
    () => transfer?.getSnapshot() ?? null,
  );
}

const SENTENCES: Record<TransferSnapshot["status"], string> = {
  waiting: "The upload begins.",
  moving: "",
  paused: "The upload is paused.",
  offline: "The connection is gone. The upload continues when it is back.",
  "signed-out": "Your session has ended. The upload continues when you have signed in again.",
  done: "Everything has arrived.",
  failed: "Some files could not be sent.",
  cancelled: "The upload was cancelled.",
};

/** How far the upload is, in the line of its panel, with what can be done about it. */
export function TransferLine({ transfer }: { transfer: Transfer }) {
  const now = useTransfer(transfer)!;
  useAnnounced(now.status);
  const { status } = now;
  return (
    <span className="transfer">
      {status !== "done" && status !== "cancelled" && (
        <progress aria-label="Upload" max={Math.max(now.bytes.all, 1)} value={now.bytes.done} />
      )}
      <span>{describeTransfer(now)}</span>
      {status === "moving" && (
        <button type="button" onClick={() => transfer.pause()}>
          Pause
        </button>
      )}
      {status === "paused" && (
        <button type="button" onClick={() => transfer.resume()}>
          Resume
        </button>
      )}
      {status === "failed" && (
        <button type="button" onClick={() => transfer.retry()}>
          {`Send ${count(Math.max(now.failures.length, 1), "file")} again`}
        </button>
      )}
    </span>
  );
}

export function describeTransfer(now: TransferSnapshot): string {
  if (now.status === "done") return SENTENCES.done;
  const parts = [
    now.files.all > 1 && `${now.files.done.toLocaleString("en-US")} of ${count(now.files.all, "file")}`,
    `${formatBytes(now.bytes.done)} of ${formatBytes(now.bytes.all)}`,
    now.secondsLeft !== null && `${formatDuration(now.secondsLeft)} left`,
    now.retries > 0 && count(now.retries, "attempt").replace("attempt", "repeated attempt"),
  ];
  return parts.filter(Boolean).join(" · ");
}

/** What had arrived before, and how it is known to be what the user has. */
export function describeThere({ alreadyThere, knownBySize }: Pick<TransferSnapshot, "alreadyThere" | "knownBySize">) {
  const there = `${alreadyThere.toLocaleString("en-US")} ${alreadyThere === 1 ? "file or part" : "files or parts"} had arrived before.`;
  if (knownBySize === 0) return `${there} They have the same checksums as your files.`;
  const some = knownBySize === alreadyThere ? "They are" : `Of these, ${knownBySize.toLocaleString("en-US")} are`;
  return `${there} ${some} known by their size alone: the storage has no checksum of them.`;
}

/** Why the upload does not move, or which files it is about: nothing while all goes well and is small. */
export function TransferDetails({ transfer, thing }: { transfer: Transfer; thing: Thing | null }) {
  const now = useTransfer(transfer)!;
  const isStill = ["paused", "offline", "signed-out", "failed", "cancelled"].includes(now.status);
  return (
    <>
      {isStill && <p className={`notice ${now.status === "failed" ? "bad" : "idle"}`}>{SENTENCES[now.status]}</p>}
      {now.failures.length > 0 && <Failures failures={now.failures} />}
      {now.alreadyThere > 0 && <p className="quiet">{describeThere(now)}</p>}
      {thing?.kind === "volume" && <Folders now={now} />}
    </>
  );
}

const SHOWN = 50;

function Failures({ failures }: { failures: TransferSnapshot["failures"] }) {
  return (
    <ul className="notice bad plain">
      {failures.slice(0, SHOWN).map((each) => (
        <li key={`${each.path} ${each.code}`}>
          {each.path && (
            <>
              <Untrusted text={each.path} />:{" "}
            </>
          )}
          {each.message} {each.advice}
        </li>
      ))}
      {failures.length > SHOWN && <li>{count(failures.length - SHOWN, "file")} more.</li>}
    </ul>
  );
}

function Folders({ now }: { now: TransferSnapshot }) {
  if (now.folders.length === 0) return null;
  return (
    <details>
      <summary>Files by folder</summary>
      <div className="scroll" tabIndex={0} role="region" aria-label="Files by folder">
        <table className="list narrow">
          <tbody>
            {now.folders.slice(0, SHOWN).map((each) => (
              <tr key={each.folder}>
                <th scope="row">
                  <Untrusted text={each.folder || "(top)"} />
                </th>
                <td className="num">{count(each.files, "file")}</td>
                <td className="num">{formatBytes(each.bytes)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {now.largest.length > 0 && (
        <p className="quiet">
          Largest: <Untrusted text={now.largest[0]!.path} />, {formatBytes(now.largest[0]!.size)}
        </p>
      )}
    </details>
  );
}

/** Have a change of the upload read aloud, but not its counters. */
function useAnnounced(status: TransferSnapshot["status"]) {
  const last = useRef(status);
  useEffect(() => {
    if (last.current !== status && SENTENCES[status]) announce(SENTENCES[status]);
    last.current = status;
  }, [status]);
}
