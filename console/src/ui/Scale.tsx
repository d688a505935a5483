const PARTS = ["imported", "updated", "unchanged", "corrected", "rejected"] as const;

export interface Outcome {
  rowsSeen: number;
  imported: number;
  updated: number;
  unchanged: number;
  rejected: number;
  /** Of the rejected rows, those that are open; the rest was corrected or discarded. */
  open: number;
}

/** The results of the rows, as parts of a bar; its numbers are below it as text. */
export function Scale({ outcome }: { outcome: Outcome }) {
  const all = Math.max(outcome.rowsSeen, 1);
  const parts = { ...outcome, rejected: outcome.open, corrected: outcome.rejected - outcome.open };
  return (
    <div className="scale" aria-hidden="true">
      {PARTS.filter((part) => parts[part] > 0).map((part) => (
        <span key={part} className={part} style={{ width: `${(100 * parts[part]) / all}%` }} />
      ))}
    </div>
  );
}
