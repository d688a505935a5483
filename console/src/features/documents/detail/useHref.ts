import { useSearchParams } from "wouter";

/** Return the address of each document of a case, opened beside the list that is shown now. */
export function useHref(caseId: number): (exhibitId: number) => string {
  const [address] = useSearchParams();
  return (exhibitId) => {
    const next = new URLSearchParams(address);
    next.set("open", String(exhibitId));
    return `/cases/${caseId}/documents?${next}`;
  };
}

/** Return the address of a document in the viewer, which leads through the list that is shown now. */
export function useViewerHref(caseId: number, exhibitId: number): string {
  const [address] = useSearchParams();
  const filters = new URLSearchParams(address);
  filters.delete("open");
  return `/cases/${caseId}/documents/${exhibitId}${filters.size > 0 ? `?${filters}` : ""}`;
}
