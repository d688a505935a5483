import { Untrusted } from "../../ui/Untrusted";
import type { Draft } from "./draft";
import { useNames } from "./queries";

interface PrivilegedProps {
  caseId: number;
  draft: Draft;
  onChange: (changes: Partial<Draft>) => void;
}

// One filter leaves out one tag.
const MOST = 5;

/** The tags of the case that speak of privilege, each with the button that leaves its documents out. */
export function Privileged({ caseId, draft, onChange }: PrivilegedProps) {
  const tags = useNames("tags", caseId, "priv");
  const { selection } = draft;
  if (selection.way !== "filters" && selection.way !== "all")
    return <p className="quiet">Take these documents off your list, unless the privilege is waived.</p>;
  const filters = selection.way === "filters" ? selection.filters : {};
  const isLeft = (tag: string) => filters.withoutTag?.[0] === tag;
  return (
    <div className="bar">
      {tags.data?.slice(0, MOST).map((tag) => (
        <button
          key={tag}
          type="button"
          disabled={isLeft(tag)}
          onClick={() => onChange({ selection: { way: "filters", filters: { ...filters, withoutTag: [tag] } } })}
        >
          Leave out documents tagged <Untrusted text={tag} />
        </button>
      ))}
    </div>
  );
}
