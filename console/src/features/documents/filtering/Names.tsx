import { useState } from "react";
import { Failure } from "../../../ui/Failure";
import { Untrusted } from "../../../ui/Untrusted";
import { Count } from "../../../ui/values";
import { useTyped, type useFacets } from "../facets";
import { addName, type Filters } from "../../../api/documentFilters";
import { Picker, type Choice } from "./Picker";
import { listParents } from "./tags";

interface NamesProps {
  caseId: number;
  filters: Filters;
  onChange: (filters: Filters) => void;
}

/** The custodians of the case, to narrow the list to one more. */
export function CustodianFilter({ caseId, filters, onChange }: NamesProps) {
  const [typed, setTyped] = useState("");
  const { found, isCurrent } = useTyped("custodians", caseId, typed);
  const choices = (found.data?.items ?? [])
    .filter(({ name }) => !filters.custodian?.includes(name))
    .map(({ name, documents }): Choice => {
      const choose = () => onChange(addName(filters, "custodian", name));
      return { key: name, label: <Untrusted text={name} />, detail: <Count value={documents} />, choose };
    });
  return (
    <>
      <Picker
        label="Search custodians"
        typed={typed}
        onType={setTyped}
        choices={choices}
        isCurrent={isCurrent}
        autoFocus
        note={note(found)}
      />
      {found.isError && <Failure error={found.error} again={() => void found.refetch()} />}
    </>
  );
}

/** The tags of the case: documents that have one, that have one or any in it, or that lack one. */
export function TagFilter({ caseId, filters, onChange }: NamesProps) {
  const [typed, setTyped] = useState("");
  const [isWithout, setWithout] = useState(false);
  const { found, isCurrent } = useTyped("tags", caseId, typed);
  const items = found.data?.items ?? [];
  const choices = items.map(({ name, documents }): Choice => {
    const choose = () => onChange(isWithout ? { ...filters, withoutTag: name } : addName(filters, "tag", name));
    return { key: name, label: <Untrusted text={name} />, detail: <Count value={documents} />, choose };
  });
  const trees = listParents(items.map(({ name }) => name)).map((name): Choice => {
    const label = (
      <>
        <Untrusted text={name} /> and all in it
      </>
    );
    return { key: `${name}\\`, label, detail: "tree", choose: () => onChange(addName(filters, "tagTree", name)) };
  });
  const isUsed = ({ key }: Choice) =>
    filters.tag?.includes(key) || filters.tagTree?.includes(key.replace(/\\$/, "")) || filters.withoutTag === key;
  const offered = [...choices, ...(isWithout ? [] : trees)].filter((each) => !isUsed(each));
  return (
    <>
      <p className="bar" role="group" aria-label="Documents with or without the tag">
        <label>
          <input type="radio" name="kind" checked={!isWithout} onChange={() => setWithout(false)} /> with the tag
        </label>
        <label>
          <input type="radio" name="kind" checked={isWithout} onChange={() => setWithout(true)} /> without it
        </label>
      </p>
      <Picker
        label="Search tags"
        typed={typed}
        onType={setTyped}
        choices={offered}
        autoFocus
        isCurrent={isCurrent}
        note={note(found)}
      />
      {found.isError && <Failure error={found.error} again={() => void found.refetch()} />}
    </>
  );
}

/** What the numbers are, and whether the list ends here. */
function note({ data }: ReturnType<typeof useFacets>) {
  if (!data) return "Loading…";
  if (data.items.length === 0) return "No name of this case has these words.";
  const more = data.hasMore ? " There are more names: type a part of one." : "";
  return `Documents in the whole case, whatever the other filters are.${more}`;
}
