/** Grey rows in the place of what is being loaded. */
export function Skeleton({ rows }: { rows: number }) {
  return (
    <div className="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, row) => (
        <div className="bone" key={row} />
      ))}
    </div>
  );
}
