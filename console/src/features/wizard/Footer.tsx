import { useMutation, useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Link, useLocation } from "wouter";
import type { Schemas } from "../../api/client";
import { ApiError } from "../../api/client";
import { Failure } from "../../ui/Failure";
import { toWords } from "../../ui/messages";
import { announce } from "../../ui/LiveRegion";
import { isRunning } from "../../ui/Status";
import { Untrusted } from "../../ui/Untrusted";
import { count, formatBytes } from "../../ui/values";
import { forgetTransfer } from "../../upload";
import { CheckResult } from "./CheckResult";
import { forgetKept, keep, type Kept } from "./kept";
import { addUp, labelRun, summarize } from "./outcome";
import { isListing, type Draft } from "./queries";
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
  /** Whether the panels say which of the settings is refused. */
  isExplained: boolean;
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
        {props.isExplained && choice.fault instanceof ApiError && choice.fault.status === 400 ? (
          <p role="alert">A setting above is refused, and is not stored. Correct it to go on.</p>
        ) : (
          <Failure error={choice.fault} again={choice.again} isByHand />
        )}
      </footer>
    );
  return (
    <footer className={isChecked ? "foot" : "foot stays"} aria-label="Check and import">
      {[rows, ...(draft?.images ?? [])].map(
        (each) => each && isStopped(each) && <Stopped key={each.id} found={each} />,
      )}
      {draft && isBusy(draft) && <Busy draft={draft} />}
      {draft?.volume && isListing(draft.volume.status) && <Listing volume={draft.volume} />}
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

const isStopped = (each: Schemas["ImportDetails"]) => each.status === "failed" || each.status === "cancelled";

/** Whether the check has ended, of the data file and of all image load files, none of which is only held. */
export function isDone(draft: Draft | null): boolean {
  if (draft?.rows?.status !== "checked" || draft.images.length < draft.imageCount) return false;
  return draft.images.every((each) => !atWork(each) && each.status !== "uploaded");
}

const refresh = (queries: QueryClient) =>
  Promise.all(["draft-import", "draft-images"].map((name) => queries.invalidateQueries({ queryKey: [name] })));

/** Why a file of the draft is not imported as it is: an import would leave its rows or pages out. */
function Stopped({ found }: { found: Schemas["ImportDetails"] }) {
  const isFailed = found.status === "failed";
  return (
    <div className={isFailed ? "notice bad" : "notice"} role={isFailed ? "alert" : undefined}>
      {isFailed && found.failureMessage && (
        <p>
          <Untrusted text={toWords(found.failureMessage)} /> <span className="quiet">{found.failureCode}</span>
        </p>
      )}
      {found.kind === "images" ? (
        <p>
          The pages of <Untrusted text={found.fileName} /> are not imported. Try it again, then check the file once
          more.
        </p>
      ) : (
        <p>
          {isFailed
            ? "Change how the file is read or its columns, or try the same again."
            : "This draft was stopped. Nothing of it is in the case."}
        </p>
      )}
      <Retry found={found} label={isFailed ? "Try again" : "Go on with it"} />
    </div>
  );
}

function Retry({ found, label }: { found: Schemas["ImportDetails"]; label: string }) {
  const queries = useQueryClient();
  const retry = useMutation({
    mutationFn: (key: string) => retryImport(found.id, key),
    onSettled: () => refresh(queries),
  });
  if (!found.actions.includes("retry")) return <Link href="/import">Start a new import</Link>;
  return (
    <>
      <button type="button" disabled={retry.isPending} onClick={() => retry.mutate(crypto.randomUUID())}>
        {label}
      </button>
      {retry.isError && <Failure error={retry.error} />}
    </>
  );
}

const LISTED: Partial<Record<Schemas["VolumeStatus"], string>> = {
  expanding: "Unpacking the zip",
  hashing: "Reading the files for their hashes",
};

function Listing({ volume }: { volume: Schemas["VolumeDetails"] }) {
  const done = volume.units - volume.unitsLeft;
  const words = LISTED[volume.status] ?? "Listing the files";
  return (
    <div className="bar">
      <progress aria-label={words} max={1} value={volume.units > 0 ? done / volume.units : undefined} />
      <span>
        {words}
        {volume.units > 1 && ` · ${done.toLocaleString("en-US")} of ${count(volume.units, "part")}`}. This goes on if
        you leave.
      </span>
    </div>
  );
}

function Busy({ draft }: { draft: Draft }) {
  const queries = useQueryClient();
  const now = [draft.rows, ...draft.images].find((each) => each != null && atWork(each))!;
  const cancel = useMutation({
    mutationFn: (key: string) => cancelImport(now.id, key),
    onSettled: () => refresh(queries),
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
  const queries = useQueryClient();
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
      forgetKept(place);
    },
    // Another window may have changed the options, or run the file.
    onError: () => refresh(queries),
  });
  const open = () => navigate(`/imports/${draft.rows!.id}`, { replace: true });
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
          <button
            type="button"
            className="primary"
            disabled={isHeld || start.isPending}
            onClick={() => start.mutate(undefined, { onSuccess: open })}
          >
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
