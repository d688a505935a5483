import { useEffect, useRef } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import { CaseNav } from "../../ui/CaseNav";
import { Failure } from "../../ui/Failure";
import { announce } from "../../ui/LiveRegion";
import { Skeleton } from "../../ui/Skeleton";
import { Untrusted } from "../../ui/Untrusted";
import { Count } from "../../ui/values";
import { DocumentPanel } from "./DocumentPanel";
import { DocumentsTable } from "./DocumentsTable";
import { FilterBar } from "./FilterBar";
import { readFilters, readOpen, writeFilters, type Filters } from "./filters";
import { useCase, useDocuments, useTotal } from "./queries";
import "./documents.css";

/** The documents of a case. Filters and the open document are in the address. */
export default function DocumentsPage({ caseId }: { caseId: number }) {
  const [address] = useSearchParams();
  const [, navigate] = useLocation();
  const filters = readFilters(address);
  const open = readOpen(address);
  const ofCase = useCase(caseId);
  const go = (to: URLSearchParams) => {
    const query = to.toString();
    navigate(`/cases/${caseId}/documents${query && `?${query}`}`);
  };
  const close = () => {
    go(writeFilters(filters));
    document.getElementById(`document-${open}`)?.focus();
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
          <FilterBar
            key={address.toString()}
            caseId={caseId}
            filters={filters}
            onChange={(changed) => go(writeFilters(changed))}
          />
          <div className={open === null ? "columns" : "columns with-panel"}>
            <List caseId={caseId} filters={filters} open={open} />
            {open !== null && <DocumentPanel key={open} exhibitId={open} onClose={close} />}
          </div>
        </>
      )}
    </section>
  );
}

function List({ caseId, filters, open }: { caseId: number; filters: Filters; open: number | null }) {
  const documents = useDocuments(caseId, filters);
  const shown = documents.data?.pages.flatMap((page) => page.items) ?? [];
  useAnnouncedCount(documents.isSuccess && !documents.isPlaceholderData ? shown.length : null, documents.hasNextPage);
  if (documents.isPending) return <Skeleton rows={8} />;
  if (documents.isError) return <Failure error={documents.error} again={() => void documents.refetch()} />;
  if (shown.length === 0) return <NoDocuments caseId={caseId} filters={filters} />;
  return (
    <div className="stack">
      <Total caseId={caseId} filters={filters} />
      {documents.hasPreviousPage && (
        <button
          type="button"
          disabled={documents.isFetchingPreviousPage}
          onClick={() => void documents.fetchPreviousPage()}
        >
          Show the documents before
        </button>
      )}
      <DocumentsTable caseId={caseId} documents={shown} filters={filters} open={open} />
      {documents.hasNextPage && (
        <button type="button" disabled={documents.isFetchingNextPage} onClick={() => void documents.fetchNextPage()}>
          {documents.isFetchingNextPage ? "Loading…" : "Show more documents"}
        </button>
      )}
    </div>
  );
}

function Total({ caseId, filters }: { caseId: number; filters: Filters }) {
  const total = useTotal(caseId, filters);
  if (!total.data || total.data.total === null) return null;
  return (
    <p className="quiet">
      {total.data.totalIsLowerBound && "More than "}
      <Count value={total.data.total} /> {total.data.total === 1 ? "document" : "documents"}
    </p>
  );
}

function NoDocuments({ caseId, filters }: { caseId: number; filters: Filters }) {
  if (Object.keys(filters).length === 0)
    return (
      <div className="empty">
        <h2>There are no documents in this case</h2>
        <p>
          An import adds them. <Link href={`/cases/${caseId}/imports`}>See the imports of this case</Link> and what is
          open in them.
        </p>
      </div>
    );
  return (
    <div className="empty">
      <h2>No document matches</h2>
      {filters.from !== undefined && (
        <p>No document that matches has the control number “{filters.from}” or a later one.</p>
      )}
      {filters.title !== undefined && (
        <p>Numbers are not searched in titles: enter them as control number or Bates number.</p>
      )}
      <p>
        Take a filter away above, or <Link href={`/cases/${caseId}/documents`}>show all documents</Link>. A row that was
        rejected is not a document yet: <Link href={`/cases/${caseId}/imports`}>see the imports</Link>.
      </p>
    </div>
  );
}

function useAnnouncedCount(count: number | null, hasMore: boolean) {
  const last = useRef<number | null>(null);
  useEffect(() => {
    if (count !== null && last.current !== null && last.current !== count)
      announce(
        count === 0 ? "No document matches." : `${count} documents are shown${hasMore ? "; there are more" : ""}.`,
      );
    if (count !== null) last.current = count;
  }, [count, hasMore]);
}
