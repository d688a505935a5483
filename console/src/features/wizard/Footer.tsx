import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Link, useLocation } from "wouter";
import type { Schemas } from "../../api/client";
import { Failure } from "../../ui/Failure";
import { announce } from "../../ui/LiveRegion";
import { isRunning } from "../../ui/Status";
import { formatBytes } from "../../ui/values";
import { forgetTransfer } from "../../upload";
import { CheckResult } from "./CheckResult";
import { forgetKept, keep, type Kept } from "./kept";
import { addUp, labelRun, summarize } from "./outcome";
import type { Draft } from "./queries";
import { cancelImport, retryImport, run } from "./requests";
import type { Choice } from "./useDraftOptions";

interface FooterProps {
  draft: Draft | null;
  place: string;
  kept: Kept;
  choice: Choice;
  /** Why the file cannot be checked yet, in a sentence that says what is missing; null if it can. */
  refusal: string | null;
  /** What a check that was requested waits for. */
  awaits: string;
}

/** The end of the page: the check, then what it found, then the button that imports. */
export function Footer(props: FooterProps) {
  const { draft, place, kept, choice, refusal, awaits } = props;
  const rows = draft?.rows ?? null;
  const isChecked = isDone(draft) && choice.isSaved && !kept.wantsCheck;
  const isRequested =
    kept.wantsCheck !== null || (rows?.wanted === "check" && !isDone(draft) && rows.status !== "cancelled");
  if (choice.fault)
    return (
      <footer className="foot">
        <Failure error={choice.fault} again={choice.again} />
      </footer>
    );
  return (
    <footer className={isChecked ? "foot" : "foot stays"} aria-label="Check and import">
      {rows?.status === "failed" && rows.failureMessage && <Failed rows={rows} />}
      {rows?.status === "cancelled" && <Stopped rows={rows} />}
      {draft && isBusy(draft) && <Busy draft={draft} />}
      {isRequested && !isBusy(draft) && <p role="status">The check begins {awaits}.</p>}
      {isChecked && <Checked {...props} draft={draft!} />}
      {!isChecked && !isRequested && !isBusy(draft) && (
        <div className="bar">
          <button
            type="button"
            className="primary"
            disabled={refusal !== null}
            onClick={() => keep(place, { wantsCheck: crypto.randomUUID() })}
          >
            Check the file
          </button>
          <span className="quiet">{refusal ?? "Nothing is written to the case."}</span>
        </div>
      )}
    </footer>
  );
}

const atWork = (each: Schemas["ImportDetails"]) => isRunning(each.status);
const isBusy = (draft: Draft | null) =>
  [draft?.rows, ...(draft?.images ?? [])].some((each) => each != null && atWork(each));

/** Whether the check has ended, of the data file and of all image load files. */
export function isDone(draft: Draft | null): boolean {
  return draft?.rows?.status === "checked" && draft.images.every((each) => !atWork(each));
}

function Failed({ rows }: { rows: Schemas["ImportDetails"] }) {
  return (
    <div className="notice bad" role="alert">
      <strong>{rows.failureCode}</strong>
      <p>{rows.failureMessage}</p>
      <p>Change how the file is read or its columns, or try the same again.</p>
      <Retry rows={rows} label="Try again" />
    </div>
  );
}

function Stopped({ rows }: { rows: Schemas["ImportDetails"] }) {
  return (
    <div className="notice">
      <p>This draft was stopped. Nothing of it is in the case.</p>
      <Retry rows={rows} label="Go on with it" />
    </div>
  );
}

function Retry({ rows, label }: { rows: Schemas["ImportDetails"]; label: string }) {
  const queries = useQueryClient();
  const retry = useMutation({
    mutationFn: (key: string) => retryImport(rows.id, key),
    onSettled: () => queries.invalidateQueries({ queryKey: ["draft-import", rows.id] }),
  });
  if (!rows.actions.includes("retry")) return <Link href="/import">Start a new import</Link>;
  return (
    <>
      <button type="button" disabled={retry.isPending} onClick={() => retry.mutate(crypto.randomUUID())}>
        {label}
      </button>
      {retry.isError && <Failure error={retry.error} />}
    </>
  );
}

function Busy({ draft }: { draft: Draft }) {
  const queries = useQueryClient();
  const now = [draft.rows, ...draft.images].find((each) => each != null && atWork(each))!;
  const cancel = useMutation({
    mutationFn: (key: string) => cancelImport(now.id, key),
    onSettled: () => queries.invalidateQueries({ queryKey: ["draft-import", now.id] }),
  });
  const part = now.chunks > 0 ? now.chunksDone / now.chunks : now.bytesRead / Math.max(now.size, 1);
  const words =
    now.chunks > 0
      ? `${now.chunksDone.toLocaleString("en-US")} of ${now.chunks.toLocaleString("en-US")} parts compared with the case`
      : `${formatBytes(now.bytesRead)} of ${formatBytes(now.size)} read`;
  return (
    <div className="bar">
      <progress aria-label="Check" max={1} value={part} />
      <span>
        {now.kind === "images" ? "Checking the page images" : "Checking the file"} · {words}. Nothing is written to the
        case.
      </span>
      {now.actions.includes("cancel") && (
        <button type="button" disabled={cancel.isPending} onClick={() => cancel.mutate(crypto.randomUUID())}>
          Stop the check
        </button>
      )}
      {cancel.isError && <Failure error={cancel.error} />}
    </div>
  );
}

function Checked({ draft, place, choice }: FooterProps & { draft: Draft }) {
  const [, navigate] = useLocation();
  const [hasRead, setRead] = useState(false);
  const outcome = addUp(draft.rows, draft.images);
  const label = labelRun(outcome);
  const sentence = summarize(outcome);
  useEffect(() => announce(`The check has ended. ${sentence}`), [sentence]);
  const [key] = useState(() => crypto.randomUUID());
  const start = useMutation({
    mutationFn: async () => {
      const accepts = { acknowledgeWarnings: outcome.warnings > 0, acceptRejections: outcome.errors.length > 0 };
      await run(draft.rows!, draft.volume?.id ?? null, accepts, key);
    },
    onSuccess: () => {
      forgetTransfer(place);
      navigate(`/imports/${draft.rows!.id}`, { replace: true });
      forgetKept(place);
    },
  });
  const isHeld = outcome.warnings > 0 && !hasRead;
  return (
    <div className="stack">
      <CheckResult
        draft={draft}
        outcome={outcome}
        options={choice.options}
        hasRead={hasRead}
        onRead={setRead}
        onOptions={(options) => choice.change(options)}
      />
      <div className="bar">
        {label && (
          <button type="button" className="primary" disabled={isHeld || start.isPending} onClick={() => start.mutate()}>
            {label}
          </button>
        )}
        <button type="button" onClick={() => keep(place, { wantsCheck: crypto.randomUUID() })}>
          Check again
        </button>
        <span className="quiet">
          {label === null
            ? "Nothing of the file would change the case. Change how it is read, or leave it."
            : isHeld
              ? "Tick the box of the warnings first."
              : outcome.rejected + outcome.rejectedImages > 0
                ? "What is left can be corrected on the page of the import."
                : ""}
        </span>
      </div>
      {start.isError && <Failure error={start.error} />}
    </div>
  );
}
