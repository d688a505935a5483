import { useSyncExternalStore } from "react";

const query = matchMedia("(max-width: 640px)");

function subscribe(listener: () => void) {
  query.addEventListener("change", listener);
  return () => query.removeEventListener("change", listener);
}

/** Whether the window is one of a telephone, where rows are read and not corrected. */
export const useIsNarrow = () => useSyncExternalStore(subscribe, () => query.matches);
