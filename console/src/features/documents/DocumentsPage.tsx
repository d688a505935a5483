import { useRef } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import { Work } from "./actions/Work";
import { useCase } from "../../api/cases";
import { CaseNav } from "../../ui/CaseNav";
import { Failure } from "../../ui/Failure";
import { announce } from "../../ui/LiveRegion";
import { useTitle } from "../../ui/title";
import { Untrusted } from "../../ui/Untrusted";
import { count } from "../../ui/values";
import { DocumentPanel } from "./DocumentPanel";
import { Unsaved } from "./detail/Unsaved";
import { DocumentsList } from "./DocumentsList";
import { FilterBar } from "./FilterBar";
import { GoTo } from "./GoTo";
import { readFilters, readOpen, withoutPlace, writeFilters, type Filters } from "../../api/documentFilters";
import type { Size } from "./selection";
import "./documents.css";

/** The documents of a case. Filters, the place in the list and the open document are in the address. */
export default function DocumentsPage({ caseId }: { caseId: number }) {
  const [address] = useSearchParams();
  const [, navigate] = useLocation();
  const filters = readFilters(address);
  const matching = JSON.stringify(withoutPlace(filters));
  const open = readOpen(address);
  const ofCase = useCase(caseId);
  useTitle("Documents", ofCase.data?.name);
  const goTo = useRef<(controlNumber: string) => void>(null);
  const sayCount = useAnnouncedCount();
  const go = (changed: Filters, opened: number | null, replace = false) => {
    const to = writeFilters(changed);
    if (opened !== null) to.set("open", String(opened));
    const query = to.toString();
    navigate(`/cases/${caseId}/documents${query && `?${query}`}`, { replace });
  };
  const close = () => {
    go(filters, null);
    document.querySelector<HTMLElement>(".documents [role=grid]")?.focus();
  };
  return (
    <section className="page documents">
      <p className="quiet crumbs">
        <Link href="/">Cases</Link>
      </p>
      <h1>{ofCase.data ? <Untrusted text={ofCase.data.name} /> : "Case"}</h1>
      <CaseNav caseId={caseId} name={ofCase.data?.name} current="documents" />
      {ofCase.isError ? (
        <Failure error={ofCase.error} again={() => void ofCase.refetch()} />
      ) : (
        <>
          <FilterBar caseId={caseId} filters={filters} onChange={(changed) => go(withoutPlace(changed), null)}>
            <GoTo
              key={filters.from}
              from={filters.from}
              onGo={(from) => {
                go({ ...filters, from }, open, true);
                goTo.current?.(from);
              }}
            />
          </FilterBar>
          <Work caseId={caseId} caseName={ofCase.data?.name ?? null} />
          <Unsaved exhibitId={open} caseId={caseId} />
          <div className={open === null ? "columns" : "columns with-panel"}>
            <DocumentsList
              key={matching}
              caseId={caseId}
              caseName={ofCase.data?.name ?? null}
              filters={filters}
              open={open}
              onOpen={(id, replace) => go(filters, id, replace)}
              onCount={(size) => sayCount(matching, size)}
              goTo={goTo}
            />
            {open !== null && <DocumentPanel key={open} exhibitId={open} onClose={close} />}
          </div>
        </>
      )}
    </section>
  );
}

/** Have the number of documents read aloud when other ones are listed. */
function useAnnouncedCount() {
  const last = useRef<string | null>(null);
  return (matching: string, { count: found, isAtLeast }: Size) => {
    if (last.current !== null && last.current !== matching)
      announce(
        found === 0 && !isAtLeast
          ? "No document matches."
          : `${isAtLeast ? "At least " : ""}${count(found, "document")}.`,
      );
    last.current = matching;
  };
}
