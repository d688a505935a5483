import { Count } from "./values";

/** How many rejected rows are open: a mark beside a number above 0, which a screen reader reads as words. */
export function OpenRows({ value }: { value: number }) {
  if (value === 0) return <Count value={0} />;
  return (
    <span className="open-rows">
      <span aria-hidden="true">● </span>
      <Count value={value} />
      <span className="unseen"> {value === 1 ? "row to fix" : "rows to fix"}</span>
    </span>
  );
}
