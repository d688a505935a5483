import { useSyncExternalStore } from "react";

let message = "";
const listeners = new Set<() => void>();

/** Have a change of state read aloud. Counters that run are not announced: they would be read every second. */
export function announce(text: string): void {
  message = text;
  for (const listener of listeners) listener();
}

export function LiveRegion() {
  const text = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => message,
  );
  return (
    <p className="unseen" role="status" aria-live="polite">
      {text}
    </p>
  );
}
