import { useId, type FormEvent } from "react";
import { showPlainly, Untrusted } from "../../ui/Untrusted";
import type { Filters } from "./filters";
import { listActions, listTypes, nameAction, nameType } from "./words";

export interface Person {
  id: string;
  name: string;
}

interface FilterBarProps {
  filters: Filters;
  persons: Person[];
  onChange: (filters: Filters) => void;
}

/** What the list is to be narrowed to. */
export function FilterBar({ filters, persons, onChange }: FilterBarProps) {
  const id = useId();
  const [type, number] = filters.object?.split(":") ?? ["", ""];
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const entered = new FormData(event.currentTarget);
    const read = (name: string) => String(entered.get(name) ?? "").trim() || undefined;
    const [of, which] = [read("type"), read("number")];
    const object = of && which ? `${of}:${which}` : undefined;
    onChange({ user: read("user"), action: read("action"), from: read("from"), object });
  };
  return (
    <form className="bar filters" role="search" aria-label="Activity" onSubmit={submit}>
      <span className="field">
        <label htmlFor={`${id}-user`}>Person</label>
        <select id={`${id}-user`} name="user" defaultValue={filters.user ?? ""}>
          <option value="">Anyone</option>
          {persons.map((each) => (
            <option key={each.id} value={each.id}>
              {showPlainly(each.name)}
            </option>
          ))}
        </select>
      </span>
      <span className="field">
        <label htmlFor={`${id}-action`}>Action</label>
        <select id={`${id}-action`} name="action" defaultValue={filters.action ?? ""}>
          <option value="">Anything</option>
          {filters.action !== undefined && !listActions().some(([, known]) => known.includes(filters.action!)) && (
            <option value={filters.action}>{showPlainly(filters.action)}</option>
          )}
          {listActions().map(([of, actions]) => (
            <optgroup key={of} label={nameType(of)}>
              {actions.map((each) => (
                <option key={each} value={each}>
                  {nameAction(each)}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
      </span>
      <span className="field">
        <label htmlFor={`${id}-type`}>Object</label>
        <select id={`${id}-type`} name="type" defaultValue={type}>
          <option value="">Any</option>
          {listTypes().map((each) => (
            <option key={each} value={each}>
              {nameType(each)}
            </option>
          ))}
        </select>
        <input
          name="number"
          aria-label="Number of the object"
          placeholder="number"
          inputMode="numeric"
          pattern="[1-9][0-9]{0,14}"
          title="A whole number"
          size={8}
          autoComplete="off"
          defaultValue={number}
        />
      </span>
      <span className="field">
        <label htmlFor={`${id}-from`}>From</label>
        <input id={`${id}-from`} name="from" type="date" defaultValue={filters.from ?? ""} />
      </span>
      <button type="submit">Find</button>
    </form>
  );
}

const WORDS: Record<keyof Filters, string> = { user: "by", object: "only", action: "action", from: "from" };

/** Each filter with the button that takes it away. */
export function Active({ filters, nameOf, onChange }: ActiveProps) {
  const active = Object.entries(filters).filter(([, value]) => value) as [keyof Filters, string][];
  if (active.length === 0) return null;
  return (
    <ul className="chips" aria-label="Filters">
      {active.map(([name, value]) => (
        <li key={name}>
          {WORDS[name]} <Untrusted text={nameOf(name, value)} />
          <button type="button" onClick={() => onChange({ ...filters, [name]: undefined })}>
            <span aria-hidden="true">×</span>
            <span className="unseen">Take away the filter: {WORDS[name]}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

interface ActiveProps {
  filters: Filters;
  nameOf: (name: keyof Filters, value: string) => string;
  onChange: (filters: Filters) => void;
}
