import { useEffect, useState } from "react";
import { useIsAway } from "../api/reach";

const LATE_MS = 5_000;

/** Grey rows in the place of what is being loaded; after some seconds they say why there is nothing else. */
export function Skeleton({ rows }: { rows: number }) {
  const isAway = useIsAway();
  const isLate = useIsLate();
  return (
    <div className="skeleton" role="status">
      <span className="unseen">Loading</span>
      {(isAway || isLate) && (
        <p>
          {isAway
            ? "The server does not answer. Check the connection; the page goes on by itself when it is back."
            : "The server takes longer than usual. The page goes on by itself."}
        </p>
      )}
      {Array.from({ length: rows }, (_, row) => (
        <div className="bone" key={row} />
      ))}
    </div>
  );
}

/** A page whose data is not there yet; a screen reader has its heading, which can be out of sight. */
export function WaitingPage({ title, isTitleSeen = true }: { title: string; isTitleSeen?: boolean }) {
  return (
    <section className="page" aria-busy="true">
      <h1 className={isTitleSeen ? undefined : "unseen"}>{title}</h1>
      <Skeleton rows={6} />
    </section>
  );
}

function useIsLate(): boolean {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), LATE_MS);
    return () => clearTimeout(timer);
  }, []);
  return isLate;
}
