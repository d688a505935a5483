import type { ReactNode } from "react";
import { Count } from "../../ui/values";
import { ALL, NOTHING, type Selection, type Size } from "./selection";

interface LineProps {
  selection: Selection;
  size: Size | null;
  matching: Size | null;
  onChange: (selection: Selection) => void;
  /** What can be done with the chosen documents. */
  children?: ReactNode;
}

/** How many documents are chosen, all that match instead, and what can be done with them. */
export function SelectionLine({ selection, size, matching, onChange, children }: LineProps) {
  return (
    <div className="bar chosen-line">
      <strong>
        {size?.isAtLeast && "At least "}
        {size ? <Count value={size.count} /> : "All that match"} {size && "chosen"}
        {selection.kind === "all" && selection.except.size > 0 && `, all but ${selection.except.size.toLocaleString()}`}
      </strong>
      {children}
      {selection.kind === "some" && (
        <button type="button" onClick={() => onChange(ALL)}>
          Choose all {matching && !matching.isAtLeast ? matching.count.toLocaleString() : ""} that match
        </button>
      )}
      <button type="button" onClick={() => onChange(NOTHING)}>
        Choose none
      </button>
    </div>
  );
}
