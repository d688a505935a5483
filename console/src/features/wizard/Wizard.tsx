import { useEffect, useRef, useState } from "react";
import { useLocation } from "wouter";
import { ApiError } from "../../api/client";
import { collectDrop, getTransfer, takeHandedOver, type Picked, type Thing } from "../../upload";
import { useDropTarget } from "../../ui/DropTarget";
import { Failure } from "../../ui/Failure";
import { announce } from "../../ui/LiveRegion";
import { Untrusted } from "../../ui/Untrusted";
import { beginDraft, beginPreview, continueUpload, findRows, isVolume } from "./begin";
import { CasePanel } from "./CasePanel";
import { ColumnsPanel } from "./ColumnsPanel";
import { Discard, GiveUp } from "./Discard";
import { FilesPanel, takesFiles } from "./FilesPanel";
import { Footer, isDone } from "./Footer";
import { forgetKept, keep, NEW, useKept, type Kept } from "./kept";
import { isOtherChoice, LoadFiles } from "./LoadFiles";
import { Paths } from "./Paths";
import { usePreview, type Draft } from "./queries";
import { ReadingPanel } from "./ReadingPanel";
import { explainRefusal, explainWaiting, findMismatch } from "./states";
import { useDraftOptions } from "./useDraftOptions";
import { useTransfer } from "./TransferLine";
import { useLeaveWarning } from "../../ui/useLeaveWarning";
import { useSeal } from "./useSeal";
import { useLast } from "./useLast";
import { VolumeFailure } from "./VolumeFailure";
import { WhatPanel } from "./WhatPanel";
import { describeThing } from "./words";

type Folds = Partial<Record<"reading" | "columns" | "what", boolean>>;

/** The five panels of an import that is being prepared: a new one, or the draft that the server has. */
export function Wizard({ draft }: { draft: Draft | null }) {
  const place = draft?.place ?? NEW;
  const kept = useKept(place);
  const [, navigate] = useLocation();
  const [fault, setFault] = useState<unknown>(null);
  const [mismatch, setMismatch] = useState<string | null>(null);
  const [isBeginning, setBeginning] = useState(false);
  const [isMoving, setMoving] = useState(false);
  const [folds, setFolds] = useState<Folds>({});
  const choice = useDraftOptions(draft, place, kept);
  const seal = useSeal(draft, kept, choice);
  const upload = useTransfer(getTransfer(place));
  useLeaveWarning(draft ? !choice.isSaved : kept.picked !== null);
  const { thing, caseName } = kept;

  const isHere = useIsHere();
  const begin = (chosen: Thing, name: string) => {
    setFault(null);
    setBeginning(true);
    beginDraft(chosen, name)
      // A user who has left this page stays where they are; the draft is in the list of the case.
      .then((path) => isHere.current && navigate(path, { replace: true }), setFault)
      .finally(() => setBeginning(false));
  };
  const takeThing = (chosen: Thing | null) => {
    if (chosen === null) return keep(NEW, { thing: null, picked: null, preview: null });
    announce(`${chosen.name}: ${describeThing(chosen)}`);
    if (!draft) {
      keep(NEW, { thing: chosen, preview: null, previewFault: null, loadFile: null, imageLoadFile: null });
      if (caseName !== null) begin(chosen, caseName);
      return;
    }
    const unlike = findMismatch(draft, chosen);
    setMismatch(unlike);
    if (unlike !== null) return;
    getTransfer(place)?.cancel();
    keep(place, { thing: chosen });
    continueUpload(draft, chosen);
  };
  const takePicked = (picked: Picked) => {
    const [only] = picked.things;
    if (!draft) keep(NEW, { picked, thing: null });
    if (picked.things.length === 1 && (draft || only!.kind !== "other")) takeThing(only!);
  };
  const canTake = draft === null ? thing === null : takesFiles(draft, upload?.status);
  const isOver = useDropTarget(canTake ? (data) => void collectDrop(data).then(takePicked, setFault) : null);
  useEffect(() => {
    if (draft) return;
    const { picked, caseName: chosen } = takeHandedOver();
    if (chosen !== undefined) keep(NEW, { caseName: chosen, picked: null, thing: null, preview: null });
    if (picked) takePicked(picked);
    // The user has come back before the server had answered, or after it could not.
    else if (!draft && thing && caseName !== null) begin(thing, caseName);
  }, []);

  const takeCase = (name: string) => {
    keep(NEW, { caseName: name });
    if (thing) begin(thing, name);
  };
  const changeCase = () => {
    forgetKept(place);
    keep(NEW, { picked: kept.picked, thing, caseName: null });
    if (draft) navigate("/import", { replace: true });
  };

  const rowsFile = findRows(thing, kept.loadFile);
  useEarlyPreview(draft?.case ?? caseName, rowsFile, kept);
  const preview = usePreview(draft, kept, choice.options, choice.profile);
  const last = useLast(preview.data ?? null, preview.isPlaceholderData);
  // Why a check that was requested cannot begin is in the panels.
  const isStuck = seal.error !== null || draft?.volume?.status === "failed";
  const isFolded = isDone(draft) || (kept.wantsCheck !== null && !isStuck);
  const canChange = draft?.rows ? draft.rows.actions.includes("options") : true;
  const isReady = draft !== null || (thing !== null && caseName !== null);
  const isOpen = (panel: keyof Folds) => folds[panel] ?? (isReady && !isFolded);
  const fold = (panel: keyof Folds) => (open: boolean) => setFolds({ ...folds, [panel]: open });
  const isOfVolume = draft ? draft.volume !== null : thing !== null && isVolume(thing);

  return (
    <section className={`page wizard${isOver ? " over" : ""}`}>
      <div className="bar">
        <h1>Import files</h1>
        {draft && <Discard draft={draft} />}
      </div>
      <ol className="panels">
        <FilesPanel
          {...{ draft, place, kept, mismatch, seal, isBeginning }}
          onPicked={takePicked}
          onThing={takeThing}
        />
        <CasePanel
          draft={draft}
          caseName={caseName}
          isNext={thing !== null}
          onCase={takeCase}
          onChange={isBeginning ? undefined : draft ? () => setMoving(true) : changeCase}
        />
        {fault !== null && (
          <li>
            <Failure error={fault} again={thing && caseName ? () => begin(thing, caseName) : undefined} isByHand />
          </li>
        )}
        <ReadingPanel
          preview={last}
          error={preview.isError ? preview.error : kept.previewFault}
          isLoading={preview.isFetching || (rowsFile !== null && isReady && !kept.preview && !kept.previewFault)}
          waiting={explainWaiting(draft, thing, caseName)}
          options={choice.options}
          isOpen={isOpen("reading")}
          canChange={canChange}
          onChange={(options) => choice.change(options)}
          onToggle={fold("reading")}
          again={() => {
            // The beginning of a file is kept for a day; after that, and after a fault, it is sent again.
            const isGone = preview.error instanceof ApiError && [404, 409].includes(preview.error.status);
            if (preview.isError && !isGone) void preview.refetch();
            else keep(place, { preview: null, previewFault: null });
          }}
        >
          {isOfVolume && isReady && (
            <>
              {draft?.volume && <VolumeFailure volume={draft.volume} seal={seal} />}
              <LoadFiles
                {...{ draft, thing, kept }}
                onChange={(changes) => keep(place, { ...changes, ...("loadFile" in changes ? { preview: null } : {}) })}
                onApply={isOtherChoice(draft, kept) ? seal.apply : undefined}
                isApplying={seal.isPending}
              />
              <Paths
                thing={thing}
                loadFile={rowsFile?.path ?? null}
                preview={last}
                options={choice.options}
                onChange={(options) => choice.change(options)}
              />
            </>
          )}
        </ReadingPanel>
        <ColumnsPanel
          preview={last}
          options={choice.options}
          profile={choice.profile}
          isOpen={isOpen("columns")}
          canChange={canChange}
          onChange={choice.change}
          onToggle={fold("columns")}
        />
        <WhatPanel
          options={choice.options}
          isVolume={isOfVolume}
          isOpen={isOpen("what")}
          canChange={canChange}
          onChange={(options) => choice.change(options)}
          onToggle={isReady ? fold("what") : undefined}
        />
      </ol>
      {draft && isMoving && (
        <GiveUp
          draft={draft}
          title="Choose another case?"
          label="Choose another case"
          onDone={changeCase}
          onClose={() => setMoving(false)}
        >
          This draft of <Untrusted text={draft.case} /> is given up, with what was chosen in it, and its files are sent
          once more into the other case.
        </GiveUp>
      )}
      <Footer
        {...{ draft, place, kept, choice }}
        isExplained={preview.isError}
        {...explainRefusal(draft, thing, caseName, seal)}
      />
    </section>
  );
}

/** Whether the page is still open, for what ends later. */
function useIsHere() {
  const isHere = useRef(true);
  useEffect(() => {
    isHere.current = true;
    return () => void (isHere.current = false);
  }, []);
  return isHere;
}

/** Preview the file with the rows from its beginning, once the case is known: users may be limited to cases. */
function useEarlyPreview(name: string | null, rows: { path: string; file: File } | null, kept: Kept) {
  const isDue = kept.preview === null && kept.previewFault === null;
  useEffect(() => {
    if (rows && name !== null && isDue) void beginPreview(name, rows);
  }, [rows?.file, name, isDue]);
}
