// The tab and the page are in the address, beside the filters of the list that the document was opened from.
export const TABS = ["images", "native", "text"] as const;
export type Tab = (typeof TABS)[number];

export interface Place {
  /** The tab that the address names; null: the first one that the document has. */
  tab: Tab | null;
  page: number;
}

export function readPlace(address: URLSearchParams): Place {
  const tab = TABS.find((each) => each === address.get("tab")) ?? null;
  const page = Number(address.get("page"));
  return { tab, page: Number.isSafeInteger(page) && page > 0 ? page : 1 };
}

/** Return the address with another tab or page; whatever else it has is kept. */
export function writePlace(address: URLSearchParams, { tab, page }: Partial<Place>): URLSearchParams {
  const written = new URLSearchParams(address);
  if (tab !== undefined) {
    written.delete("tab");
    if (tab) written.set("tab", tab);
    written.delete("page");
  }
  if (page !== undefined) {
    written.delete("page");
    if (page > 1) written.set("page", String(page));
  }
  return written;
}

/** Return what the next document of the list has in its address, too: the filters and the tab. */
export function writeKept(address: URLSearchParams): URLSearchParams {
  const written = writeList(address);
  const { tab } = readPlace(address);
  if (tab) written.set("tab", tab);
  return written;
}

/** Return the address of the list that the document was opened from. */
export function writeList(address: URLSearchParams): URLSearchParams {
  const written = new URLSearchParams(address);
  for (const name of ["tab", "page", "open"]) written.delete(name);
  return written;
}
