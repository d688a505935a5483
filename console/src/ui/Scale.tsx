const PARTS = ["imported", "updated", "unchanged", "rejected"] as const;

export interface Outcome {
  rowsSeen: number;
  imported: number;
  updated: number;
  unchanged: number;
  rejected: number;
}

/** The results of the rows, as parts of a bar; its numbers are below it as text. */
export function Scale({ outcome }: { outcome: Outcome }) {
  const all = Math.max(outcome.rowsSeen, 1);
  return (
    <div className="scale" aria-hidden="true">
      {PARTS.filter((part) => outcome[part] > 0).map((part) => (
        <span key={part} className={part} style={{ width: `${(100 * outcome[part]) / all}%` }} />
      ))}
    </div>
  );
}
