import { useEffect, useState } from "react";
import { useLocation } from "wouter";
import { ApiError } from "../../api/client";
import { collectDrop, getTransfer, takeHandedOver, type Picked, type Thing } from "../../upload";
import { useDropTarget } from "../../ui/DropTarget";
import { Failure } from "../../ui/Failure";
import { announce } from "../../ui/LiveRegion";
import { beginDraft, beginPreview, continueUpload, findRows, giveUp, isVolume } from "./begin";
import { CasePanel } from "./CasePanel";
import { ColumnsPanel } from "./ColumnsPanel";
import { Discard } from "./Discard";
import { awaitsBytes, FilesPanel } from "./FilesPanel";
import { Footer, isDone } from "./Footer";
import { forgetKept, keep, NEW, useKept, type Kept } from "./kept";
import { isOtherChoice, LoadFiles } from "./LoadFiles";
import { Paths } from "./Paths";
import { usePreview, type Draft } from "./queries";
import { ReadingPanel } from "./ReadingPanel";
import { explainRefusal, explainWaiting, findMismatch } from "./states";
import { useDraftOptions } from "./useDraftOptions";
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
  const [folds, setFolds] = useState<Folds>({});
  const choice = useDraftOptions(draft, place, kept);
  const seal = useSeal(draft, kept, choice);
  const { thing, caseName } = kept;

  const begin = (chosen: Thing, name: string) => {
    setFault(null);
    beginDraft(chosen, name).then((path) => navigate(path, { replace: true }), setFault);
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
    keep(place, { thing: chosen });
    continueUpload(draft, chosen);
  };
  const takePicked = (picked: Picked) => {
    const [only] = picked.things;
    if (!draft) keep(NEW, { picked, thing: null });
    if (picked.things.length === 1 && (draft || only!.kind !== "other")) takeThing(only!);
  };
  const canTake = draft === null ? thing === null : !getTransfer(place) && awaitsBytes(draft);
  const isOver = useDropTarget(canTake ? (data) => void collectDrop(data).then(takePicked, setFault) : null);
  useEffect(() => {
    if (draft) return;
    const { picked, caseName: chosen } = takeHandedOver();
    if (chosen !== undefined) keep(NEW, { caseName: chosen, picked: null, thing: null, preview: null });
    if (picked) takePicked(picked);
  }, []);

  const takeCase = (name: string) => {
    keep(NEW, { caseName: name });
    if (thing) begin(thing, name);
  };
  const changeCase = () => {
    const { picked } = kept;
    if (draft) void giveUp(draft, crypto.randomUUID());
    forgetKept(place);
    keep(NEW, { picked, thing, caseName: null });
    if (draft) navigate("/import");
  };

  const rowsFile = findRows(thing, kept.loadFile);
  useEarlyPreview(draft?.case ?? caseName, rowsFile, kept);
  const preview = usePreview(draft, kept, choice.options, choice.profile);
  const last = useLast(preview.data ?? null, preview.isPlaceholderData);
  const isFolded = isDone(draft) || kept.wantsCheck !== null;
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
        <FilesPanel {...{ draft, place, kept, mismatch, seal }} onPicked={takePicked} onThing={takeThing} />
        <CasePanel draft={draft} caseName={caseName} isNext={thing !== null} onCase={takeCase} onChange={changeCase} />
        {fault !== null && (
          <li>
            <Failure error={fault} again={thing && caseName ? () => begin(thing, caseName) : undefined} />
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
      <Footer {...{ draft, place, kept, choice }} {...explainRefusal(draft, thing, caseName, seal)} />
    </section>
  );
}

/** Preview the file with the rows from its beginning, once the case is known: users may be limited to cases. */
function useEarlyPreview(name: string | null, rows: { path: string; file: File } | null, kept: Kept) {
  const isDue = kept.preview === null && kept.previewFault === null;
  useEffect(() => {
    if (rows && name !== null && isDue) void beginPreview(name, rows);
  }, [rows?.file, name, isDue]);
}
