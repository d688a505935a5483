import { useEffect } from "react";
import { showPlainly } from "./Untrusted";

const APPLICATION = "exhibit-ingest";

/**
 * Name the window, its tab and its entry in the history after what the page shows. What tells it from other pages comes
 * first; a part that is not known yet is left out.
 */
export function useTitle(...parts: (string | null | undefined)[]): void {
  const known = parts.filter((each) => each != null && each !== "") as string[];
  const title = [...known.map((each) => showPlainly(each)), APPLICATION].join(" · ");
  useEffect(() => {
    document.title = title;
  }, [title]);
}
