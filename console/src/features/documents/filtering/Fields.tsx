import { useId, useState, type FormEvent, type ReactNode } from "react";
import type { Answer, Filters } from "../../../api/documentFilters";

/** What a form of filters does: it replaces those of its own names, or says what is wrong. */
type Read = (entered: (name: string) => string) => Filters | string;

function Form({ read, onChange, children }: { read: Read; onChange: (changed: Filters) => void; children: ReactNode }) {
  const [fault, setFault] = useState<string | null>(null);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const changed = read((name) => String(data.get(name) ?? "").trim());
    if (typeof changed === "string") setFault(changed);
    else onChange(changed);
  };
  return (
    <form className="fields" onSubmit={submit}>
      {children}
      {fault && (
        <p className="fault" role="alert">
          {fault}
        </p>
      )}
      <button type="submit">Apply</button>
    </form>
  );
}

interface FieldProps {
  name: string;
  label: string;
  value: string | number | undefined;
  type?: "text" | "date" | "number";
  autoFocus?: boolean;
}

export function Field({ name, label, value, type = "text", autoFocus }: FieldProps) {
  const id = useId();
  return (
    <span className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        name={name}
        type={type}
        min={type === "number" ? 1 : undefined}
        defaultValue={value ?? ""}
        maxLength={255}
        autoComplete="off"
        spellCheck={false}
        autoFocus={autoFocus}
      />
    </span>
  );
}

interface PartProps {
  filters: Filters;
  onChange: (filters: Filters) => void;
}

/** The days of a document, both of them included. */
export function DayFilter({ filters, onChange }: PartProps) {
  const read: Read = (entered) => {
    const [dateFrom, dateTo] = [entered("dateFrom"), entered("dateTo")];
    if (dateFrom && dateTo && dateTo < dateFrom) return "The last day is before the first one.";
    return { ...filters, dateFrom, dateTo };
  };
  return (
    <Form read={read} onChange={onChange}>
      <Field name="dateFrom" label="First day" type="date" value={filters.dateFrom} autoFocus />
      <Field name="dateTo" label="Last day" type="date" value={filters.dateTo} />
      <p className="quiet">Days are those of UTC. One alone is open on the other side.</p>
    </Form>
  );
}

/** One Bates number, of any page, or a range of them. */
export function BatesFilter({ filters, onChange }: PartProps) {
  const read: Read = (entered) => {
    const [bates, batesFrom, batesTo] = [entered("bates"), entered("batesFrom"), entered("batesTo")];
    const all = [bates, batesFrom, batesTo].filter(Boolean);
    if (bates && all.length > 1) return "Enter one number, or a range, not both.";
    if (all.some((each) => !/\d$/.test(each))) return "A Bates number ends in digits, such as SMITH0000001.";
    if (all.length > 1 && prefixOf(batesFrom) !== prefixOf(batesTo)) return "Both numbers need the same prefix.";
    if (all.length > 1 && digitsOf(batesTo) < digitsOf(batesFrom)) return "The last number is below the first one.";
    return { ...filters, bates, batesFrom, batesTo };
  };
  return (
    <Form read={read} onChange={onChange}>
      <Field name="bates" label="Bates number" value={filters.bates} autoFocus />
      <Field name="batesFrom" label="or from" value={filters.batesFrom} />
      <Field name="batesTo" label="to" value={filters.batesTo} />
      <p className="quiet">A number of any page finds its document. Zeros do not matter; upper and lower case do.</p>
    </Form>
  );
}

const prefixOf = (bates: string) => bates.replace(/\d+$/, "");
const digitsOf = (bates: string) => BigInt(/\d+$/.exec(bates)?.[0] ?? "0");

const FILES: [Answer, string][] = [
  ["hasNative", "Native"],
  ["hasText", "Text"],
  ["hasImages", "Images"],
];

/** Which files a document has, or lacks. */
export function FilesFilter({ filters, onChange }: PartProps) {
  const read: Read = (entered) => {
    const changed: Filters = { ...filters };
    for (const [name] of FILES) changed[name] = entered(name) === "" ? undefined : entered(name) === "true";
    return changed;
  };
  return (
    <Form read={read} onChange={onChange}>
      {FILES.map(([name, label]) => (
        <Choose key={name} name={name} label={label} value={filters[name]?.toString() ?? ""}>
          <option value="">with or without</option>
          <option value="true">with</option>
          <option value="false">without</option>
        </Choose>
      ))}
    </Form>
  );
}

export function Choose(props: { name: string; label: string; value: string; children: ReactNode }) {
  const id = useId();
  return (
    <span className="field">
      <label htmlFor={id}>{props.label}</label>
      <select id={id} name={props.name} defaultValue={props.value}>
        {props.children}
      </select>
    </span>
  );
}

/** Filters that are used less: confidentiality, family, and the imports that brought or changed a document. */
export function MoreFilter({ filters, onChange }: PartProps) {
  const read: Read = (entered) => {
    const [first, changed] = [Number(entered("import")), Number(entered("changed"))];
    const texts = { confidentiality: entered("confidentiality"), family: entered("family") };
    return { ...filters, ...texts, import: first || undefined, changed: changed || undefined };
  };
  return (
    <Form read={read} onChange={onChange}>
      <Field name="confidentiality" label="Confidentiality" value={filters.confidentiality} autoFocus />
      <Field name="family" label="Family of the control number" value={filters.family} />
      <Field name="import" label="Brought by import" type="number" value={filters.import} />
      <Field name="changed" label="Changed by import" type="number" value={filters.changed} />
      <p className="quiet">The pages of imports have their numbers, and links to their documents.</p>
    </Form>
  );
}
