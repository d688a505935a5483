import { Fragment, useCallback, useEffect, useMemo } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import type { Schemas } from "../../api/client";
import { readFilters } from "../../api/documentFilters";
import { Failure } from "../../ui/Failure";
import { announce } from "../../ui/LiveRegion";
import { Skeleton } from "../../ui/Skeleton";
import { useTitle } from "../../ui/title";
import { Untrusted } from "../../ui/Untrusted";
import { readPlace, TABS, writeKept, writeList, writePlace, type Tab } from "./address";
import { ImagesTab } from "./ImagesTab";
import { Neighbours } from "./Neighbours";
import { OwnFile } from "./OwnFileTabs";
import { useExhibit, useOwnFiles } from "./queries";
import { endTiffWorker } from "./tiff/client";
import { forgetPages } from "./useTiff";
import { useViewerKeys } from "./useViewerKeys";
import "./viewer.css";

type Exhibit = Schemas["Exhibit"];
type OwnFiles = NonNullable<ReturnType<typeof useOwnFiles>["data"]>;

/** One document to look at: its page images, its native and its text. Tab and page are in the address. */
export default function ViewerPage({ caseId, exhibitId }: { caseId: number; exhibitId: number }) {
  const [address] = useSearchParams();
  const [, navigate] = useLocation();
  const exhibit = useExhibit(exhibitId);
  useTitle(exhibit.data?.controlNumber ?? "Document", exhibit.data?.case);
  const isElsewhere = exhibit.data !== undefined && exhibit.data.caseId !== caseId;
  const list = useMemo(() => writeList(address), [address]);
  const back = `/cases/${caseId}/documents${withQuery(list)}`;
  useViewerKeys({ Escape: () => navigate(back) });
  useEffect(
    () => () => {
      endTiffWorker();
      forgetPages();
    },
    [],
  );
  return (
    <section className="page viewer">
      <div className="bar head">
        <Link href={back} className="button">
          Back to the list
        </Link>
        <Title exhibit={exhibit.data} isBusy={exhibit.isPending} />
        <Neighbours
          caseId={caseId}
          controlNumber={isElsewhere ? undefined : exhibit.data?.controlNumber}
          filters={readFilters(list)}
          kept={writeKept(address)}
        />
        <KeyList />
      </div>
      {exhibit.isPending && <Skeleton rows={6} />}
      {exhibit.isError && <Failure error={exhibit.error} again={() => void exhibit.refetch()} />}
      {exhibit.data &&
        (isElsewhere ? <Elsewhere exhibit={exhibit.data} /> : <Document exhibit={exhibit.data} address={address} />)}
    </section>
  );
}

const withQuery = (address: URLSearchParams) => (address.size > 0 ? `?${address}` : "");

function Document({ exhibit, address }: { exhibit: Exhibit; address: URLSearchParams }) {
  const [path, navigate] = useLocation();
  const place = readPlace(address);
  const tab = place.tab ?? chooseTab(exhibit);
  const files = useOwnFiles(exhibit.id, exhibit.version);
  const hasNothing = exhibit.pageCount === 0 && files.data?.native === null && files.data.text === null;
  const hrefOf = useCallback((page: number) => `${path}${withQuery(writePlace(address, { page }))}`, [path, address]);
  const go = useCallback((page: number) => navigate(hrefOf(page), { replace: true }), [navigate, hrefOf]);
  useEffect(() => announce(`Document ${exhibit.controlNumber}`), [exhibit.controlNumber]);
  return (
    <>
      <nav aria-label="What is shown" className="casenav">
        {TABS.map((each) => (
          <Link
            key={each}
            className="tab"
            href={`${path}${withQuery(writePlace(address, { tab: each }))}`}
            aria-current={each === tab ? "page" : undefined}
            replace
          >
            {NAMES[each]} <span className="quiet">{describe(exhibit, files.data, each)}</span>
          </Link>
        ))}
      </nav>
      {tab === "images" && exhibit.pageCount === 0 && !hasNothing && (
        <p className="notice">
          The document has 0 pages: no image load file has been imported for it. Look at its native or text, or import
          the image load file (.opt or .lfp) of its volume.
        </p>
      )}
      {hasNothing && (
        <p className="notice">
          There is nothing to look at: no load file names a native, a text or page images of this document. Import the
          volume that has them. <Link href={`/cases/${exhibit.caseId}/imports`}>See the imports of this case</Link>
        </p>
      )}
      {tab === "images" && exhibit.pageCount > 0 && (
        <ImagesTab
          caseId={exhibit.caseId}
          exhibitId={exhibit.id}
          version={exhibit.version}
          count={exhibit.pageCount}
          page={place.page}
          hrefOf={hrefOf}
          go={go}
        />
      )}
      {tab !== "images" && !hasNothing && (
        <OwnFile
          key={tab}
          kind={tab}
          exhibit={exhibit}
          caseId={exhibit.caseId}
          exhibitId={exhibit.id}
          version={exhibit.version}
          page={place.page}
          hrefOf={hrefOf}
          go={go}
        />
      )}
    </>
  );
}

/** A document of another case than that of the address, whose list and neighbours are not its own. */
function Elsewhere({ exhibit }: { exhibit: Exhibit }) {
  return (
    <p className="notice">
      This document is in another case: <Untrusted text={exhibit.case} />.{" "}
      <Link href={`/cases/${exhibit.caseId}/documents/${exhibit.id}`}>Open it there</Link>
    </p>
  );
}

function Title({ exhibit, isBusy }: { exhibit: Exhibit | undefined; isBusy: boolean }) {
  if (!exhibit)
    return (
      <div aria-busy={isBusy}>
        <h1>Document</h1>
      </div>
    );
  const title = exhibit.title ?? exhibit.fileName;
  return (
    <h1>
      <span className="mono">
        <Untrusted text={exhibit.controlNumber} />
      </span>{" "}
      {title !== null && (
        <span className="title">
          <Untrusted text={title} />
        </span>
      )}
    </h1>
  );
}

const NAMES: Record<Tab, string> = { images: "Images", native: "Native", text: "Text" };

/** The first tab that has something. */
function chooseTab(exhibit: Exhibit): Tab {
  if (exhibit.pageCount > 0) return "images";
  return exhibit.nativePath !== null ? "native" : "text";
}

function describe(exhibit: Exhibit, files: OwnFiles | undefined, tab: Tab): string | undefined {
  if (tab === "images") return exhibit.pageCount.toLocaleString();
  return files && (files[tab] === null ? "–" : "");
}

const KEYS: [keys: string[], does: string][] = [
  [["j", "k"], "next, previous document"],
  [["n", "p"], "next, previous page; also PageDown, PageUp"],
  [["Home", "End"], "first, last page"],
  [["+", "-", "0"], "larger, smaller, 100 %"],
  [["w", "r"], "fit width, rotate"],
  [["Esc"], "back to the list"],
];

function KeyList() {
  return (
    <details className="keys">
      <summary>Keys</summary>
      <dl>
        {KEYS.map(([keys, does]) => (
          <Fragment key={does}>
            <dt>
              {keys.map((key) => (
                <Fragment key={key}>
                  <kbd>{key}</kbd>{" "}
                </Fragment>
              ))}
            </dt>
            <dd>{does}</dd>
          </Fragment>
        ))}
      </dl>
    </details>
  );
}
