import { useMemo } from "react";
import { useOpenRows, useReading, useRejectedAgain, type State } from "./queries";
import { collectAgain, toSheetRow, type SheetRow } from "./rows";

const NONE: SheetRow[] = [];

/** The open rows of a page as the sheet shows them, with what corrections have rejected again. */
export function useRows(state: State, code: string | null, after: string | undefined, limit: number) {
  const listed = useOpenRows(state.id, code, after, limit);
  const again = useRejectedAgain(state.correctedBy);
  const reading = useReading(state.id);
  const [page, pages, read] = [listed.data, again.pages, reading.data ?? null];
  const rows = useMemo(() => {
    if (!page) return NONE;
    const rejected = collectAgain(pages);
    return page.items.map((row) => toSheetRow(row, rejected.get(row.line), page.columns ?? [], read));
  }, [page, pages, read]);
  return {
    rows,
    columns: listed.data?.columns ?? [],
    next: listed.data?.next ?? null,
    reading: read,
    isPending: listed.isPending || again.isPending,
    error: listed.error ?? again.error ?? reading.error,
    refetch: () => void (listed.refetch(), reading.refetch()),
  };
}
