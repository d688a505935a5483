import { useDeferredValue, useId, useState, type FormEvent } from "react";
import { Untrusted } from "../../ui/Untrusted";
import type { FilterName, Filters } from "./filters";
import { useNames } from "./queries";

const WORDS: Record<FilterName, string> = {
  title: "title has",
  custodian: "custodian",
  tag: "tag",
  bates: "Bates number",
  from: "from control number",
  import: "import",
  changed: "changed by import",
};
const FIELDS = ["title", "custodian", "tag", "bates", "from"] as const;

/** What the list is narrowed to: a form, and each filter with the button that takes it away. */
export function FilterBar(props: { caseId: number; filters: Filters; onChange: (filters: Filters) => void }) {
  const { caseId, filters, onChange } = props;
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const entered = new FormData(event.currentTarget);
    const changed: Filters = { ...filters };
    for (const name of FIELDS) changed[name] = String(entered.get(name) ?? "").trim();
    onChange(changed);
  };
  return (
    <>
      <form className="bar filters" role="search" aria-label="Documents" onSubmit={submit}>
        <Text name="from" label="Go to control number" value={filters.from} />
        <Text name="bates" label="Bates number" value={filters.bates} />
        <Text name="title" label="Words of the title" value={filters.title} />
        <Name name="custodian" label="Custodian" kind="custodians" caseId={caseId} value={filters.custodian} />
        <Name name="tag" label="Tag" kind="tags" caseId={caseId} value={filters.tag} />
        <button type="submit">Find documents</button>
      </form>
      <Active filters={filters} onChange={onChange} />
    </>
  );
}

function Text({ name, label, value }: { name: string; label: string; value: string | undefined }) {
  const id = useId();
  return (
    <span className="field">
      <label htmlFor={id}>{label}</label>
      <input id={id} name={name} defaultValue={value ?? ""} maxLength={255} autoComplete="off" spellCheck={false} />
    </span>
  );
}

interface NameProps {
  name: string;
  label: string;
  kind: "custodians" | "tags";
  caseId: number;
  value: string | undefined;
}

/** A name of the case, with those that have the typed words offered below. */
function Name({ name, label, kind, caseId, value }: NameProps) {
  const id = useId();
  const [typed, setTyped] = useState(value ?? "");
  const names = useNames(kind, caseId, useDeferredValue(typed.trim()));
  return (
    <span className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        name={name}
        list={`${id}-names`}
        value={typed}
        maxLength={500}
        autoComplete="off"
        onChange={(event) => setTyped(event.target.value)}
      />
      <datalist id={`${id}-names`}>
        {names.data?.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </span>
  );
}

function Active({ filters, onChange }: { filters: Filters; onChange: (filters: Filters) => void }) {
  const active = Object.entries(filters) as [FilterName, string | number][];
  if (active.length === 0) return null;
  return (
    <ul className="chips" aria-label="Filters">
      {active.map(([name, value]) => (
        <li key={name}>
          {WORDS[name]} <Untrusted text={String(value)} />
          <button type="button" onClick={() => onChange({ ...filters, [name]: undefined })}>
            <span aria-hidden="true">×</span>
            <span className="unseen">Take away the filter: {WORDS[name]}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
