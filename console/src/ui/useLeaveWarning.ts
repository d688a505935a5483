import { useEffect } from "react";

/** Have the browser ask before a reload, or the closing of the window, loses what this window alone has. */
export function useLeaveWarning(isActive: boolean): void {
  useEffect(() => {
    if (!isActive) return;
    const ends = new AbortController();
    addEventListener("beforeunload", (event) => event.preventDefault(), { signal: ends.signal });
    return () => ends.abort();
  }, [isActive]);
}
