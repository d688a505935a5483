import { useCallback, useEffect, useState, type ReactNode } from "react";
import { Failure } from "../../ui/Failure";
import { FileView } from "./FileView";
import { PageList } from "./PageList";
import { usePageFile, usePages, usePrefetch, useReload, useRenewPage } from "./queries";
import { SheetBar } from "./SheetBar";
import { prefetchTiff } from "./useTiff";
import { useSheetSettings } from "./useSheetSettings";
import { buildPageKeys, useViewerKeys } from "./useViewerKeys";
import { chooseView } from "./views";

export interface PagedProps {
  caseId: number;
  exhibitId: number;
  version: number;
  page: number;
  hrefOf: (page: number) => string;
  go: (page: number) => void;
}

/** The page images of a document, as its image load file names them. */
export function ImagesTab({ caseId, exhibitId, version, count, page, hrefOf, go }: PagedProps & { count: number }) {
  const pages = usePages(exhibitId, version);
  const known = pages.data?.pages.flatMap((each) => each.items) ?? [];
  const settings = useSheetSettings(`${exhibitId} ${page}`);
  useViewerKeys(buildPageKeys(page, count, false, go, settings));
  const [needed, setNeeded] = useState(0);
  const { hasNextPage, isFetching, fetchNextPage } = pages;
  useEffect(() => {
    if (Math.max(needed, page) > known.length && hasNextPage && !isFetching) void fetchNextPage();
  }, [needed, page, known.length, hasNextPage, isFetching, fetchNextPage]);
  const bar = <SheetBar {...{ page, count, settings, go }} hasNext={false} />;
  return (
    <div className="with-pages">
      <PageList {...{ count, known, hrefOf }} current={page} onSight={setNeeded} />
      <div className="stage">
        {pages.isError && <Failure error={pages.error} again={() => void pages.refetch()} />}
        {page > count ? (
          <p className="notice">
            The document has {count.toLocaleString()} {count === 1 ? "page" : "pages"}.{" "}
            <button type="button" onClick={() => go(count)}>
              Go to the last page
            </button>
          </p>
        ) : (
          <PageImage
            {...{ caseId, exhibitId, version, page, count, settings, bar }}
            turn={known[page - 1]?.rotation ?? 0}
          />
        )}
      </div>
    </div>
  );
}

interface PageImageProps {
  bar: ReactNode;
  caseId: number;
  exhibitId: number;
  version: number;
  page: number;
  count: number;
  turn: number;
  settings: ReturnType<typeof useSheetSettings>;
}

function PageImage({ bar, caseId, exhibitId, version, page, count, turn, settings }: PageImageProps) {
  const found = usePageFile(exhibitId, version, page);
  const prefetch = usePrefetch(exhibitId, version);
  const renew = useRenewPage(exhibitId, page);
  const reload = useReload(exhibitId);
  const [shownPage, setShownPage] = useState(0);
  const file = found.data;
  // The page after this one is got once this one is there.
  const isReady = shownPage === page || (file != null && chooseView(file) !== "tiff");
  useEffect(() => {
    if (!isReady || page >= count) return;
    const ends = new AbortController();
    void prefetch(page + 1)
      .then((next) => {
        if (next?.url && chooseView(next) === "tiff" && !ends.signal.aborted)
          return prefetchTiff(next, next.pageInFile ?? 1, ends.signal);
        if (next?.url && chooseView(next) === "image") new Image().src = next.url;
      })
      .catch(() => undefined);
    return () => ends.abort();
  }, [isReady, page, count, prefetch]);
  const onShown = useCallback(() => setShownPage(page), [page]);
  const label = `Page ${page.toLocaleString()}`;
  if (found.isPending)
    return (
      <>
        <div className="bar">{bar}</div>
        <p role="status" className="waiting">
          Loading {label}
        </p>
      </>
    );
  if (found.isError) return <Failure error={found.error} again={() => void found.refetch()} />;
  if (!file) return <p className="notice">The document does not have this page any more. Reload the page.</p>;
  return (
    <FileView
      key={page}
      {...{ caseId, exhibitId, file, label, turn, settings, renew, reload, onShown, bar }}
      page={file.pageInFile ?? 1}
    />
  );
}
