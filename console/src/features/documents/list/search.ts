// A page of a list with filters may be empty although more may follow: its search ended, and goes on from its cursor.
import type { Answer, Row } from "./pieces";
import type { Place } from "./reads";

/** A page as the API answers: with how many documents it searched in, if it ended early. */
export interface Page<R extends Row> extends Answer<R> {
  searched?: number | null;
}

/**
 * Read a page that has rows, or is the last one. `onSearched` gets how many documents the pages before it have searched
 * in together.
 */
export async function search<R extends Row>(
  read: (place: Place) => Promise<Page<R>>,
  place: Place,
  onSearched: (searched: number) => void,
): Promise<Answer<R>> {
  const isBackward = "before" in place;
  const first = await read(place);
  let page = first;
  for (let searched = 0; page.items.length === 0;) {
    const onward = isBackward ? page.prev : page.next;
    if (!onward) break;
    searched += page.searched ?? 0;
    onSearched(searched);
    page = await read(isBackward ? { before: onward } : { after: onward });
  }
  // Nothing is between the place and the rows: what is on the other side of it is on theirs.
  if (isBackward) return { ...page, next: first.next === null ? null : page.next };
  return { ...page, prev: first.prev === null ? null : page.prev };
}
