/** The button for the next page of a list; nothing at its end. */
export function More({ pages, what }: { pages: Pages; what: string }) {
  if (!pages.hasNextPage) return null;
  return (
    <button type="button" disabled={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
      {pages.isFetchingNextPage ? "Loading…" : `Show more ${what}`}
    </button>
  );
}

interface Pages {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => unknown;
}
