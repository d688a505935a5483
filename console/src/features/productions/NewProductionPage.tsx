import { useEffect, useRef, useState } from "react";
import { Link } from "wouter";
import { useCase } from "../../api/cases";
import { useCanImport } from "../../api/me";
import { CaseNav } from "../../ui/CaseNav";
import { Failure } from "../../ui/Failure";
import { Skeleton } from "../../ui/Skeleton";
import { useTitle } from "../../ui/title";
import { Untrusted } from "../../ui/Untrusted";
import { CheckPanel } from "./CheckPanel";
import { readDraft, toBody, writeDraft, type Draft, type Known } from "./draft";
import { NumberFields } from "./NumberFields";
import { useNextVolume, usePrefixes } from "./queries";
import { SelectionFields } from "./SelectionFields";
import { useCheck } from "./useCheck";
import { VolumeFields } from "./VolumeFields";
import "./productions.css";

const ADDRESS_MS = 300;

/** A production that is prepared: the form at the left, and beside it what it would be now. */
export default function NewProductionPage({ caseId }: { caseId: number }) {
  const ofCase = useCase(caseId);
  useTitle("New production", ofCase.data?.name);
  const prefixes = usePrefixes(caseId);
  const volume = useNextVolume(caseId);
  const failed = ofCase.error ?? prefixes.error ?? volume.error;
  const again = () => void (ofCase.refetch(), prefixes.refetch(), volume.refetch());
  const isThere = ofCase.data && prefixes.data && volume.data !== undefined;
  return (
    <section className="page productions" aria-busy={(!isThere && !failed) || undefined}>
      <p className="quiet crumbs">
        <Link href="/">Cases</Link> /{" "}
        <Link href={`/cases/${caseId}/productions`}>
          {ofCase.data ? <Untrusted text={ofCase.data.name} /> : "Productions"}
        </Link>
      </p>
      <h1>New production</h1>
      <CaseNav caseId={caseId} name={ofCase.data?.name} current="productions" />
      {failed && <Failure error={failed} again={again} />}
      {!failed && !isThere && <Skeleton rows={6} />}
      {isThere && (
        <Drafting
          caseId={caseId}
          caseName={ofCase.data.name}
          documents={ofCase.data.documents}
          volume={volume.data!}
          prefixes={prefixes.data}
        />
      )}
    </section>
  );
}

interface DraftingProps {
  caseId: number;
  caseName: string;
  documents: number;
  volume: string;
  prefixes: NonNullable<ReturnType<typeof usePrefixes>["data"]>;
}

function Drafting({ caseId, caseName, documents, volume, prefixes }: DraftingProps) {
  const [draft, setDraft] = useState(() => readDraft(location.search, location.hash));
  const canProduce = useCanImport();
  useAddress(draft);
  const prefix = prefixes.find((each) => each.prefix === draft.prefix);
  const known: Known = { caseName, volume, prefix };
  const body = toBody(draft, known);
  const { query, isCurrent } = useCheck(body, draft);
  const change = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes }));
  return (
    <div className="drafting">
      <form aria-label="Draft of the production" onSubmit={(event) => event.preventDefault()}>
        <SelectionFields caseId={caseId} documents={documents} draft={draft} onChange={change} />
        <NumberFields draft={draft} prefixes={prefixes} known={prefix} onChange={change} />
        <VolumeFields draft={draft} next={volume} onChange={change} />
      </form>
      <CheckPanel
        caseId={caseId}
        draft={draft}
        body={body}
        checked={query.data}
        error={query.error}
        isCurrent={isCurrent}
        canProduce={canProduce}
        onChange={change}
        onAgain={() => void query.refetch()}
      />
    </div>
  );
}

/** Keep the draft in the address, so that a reload has it; not at every key, which browsers slow down. */
function useAddress(draft: Draft) {
  const written = useRef(draft);
  useEffect(() => {
    if (written.current === draft) return;
    const timer = setTimeout(() => {
      written.current = draft;
      history.replaceState(history.state, "", `${location.pathname}${writeDraft(draft)}`);
    }, ADDRESS_MS);
    return () => clearTimeout(timer);
  }, [draft]);
}
