import { Fragment, useDeferredValue, useId, useState, type FormEvent } from "react";
import { Link } from "wouter";
import { Untrusted } from "../../ui/Untrusted";
import { count } from "../../ui/values";
import { MAX_CHOSEN, type Draft } from "./draft";
import { useNames } from "./queries";
import { FILTERS, linkDocuments, readLines, type Filters, type Selection } from "./selection";

interface SelectionProps {
  caseId: number;
  documents: number;
  draft: Draft;
  onChange: (changes: Partial<Draft>) => void;
}

/** What is produced: the documents that match filters, chosen ones, those of a list of control numbers, or all. */
export function SelectionFields({ caseId, documents, draft, onChange }: SelectionProps) {
  const { selection } = draft;
  // What was entered for another way is there again when one returns to it.
  const [kept, setKept] = useState<Partial<Record<Selection["way"], Selection>>>({ [selection.way]: selection });
  const select = (next: Selection) => {
    setKept({ ...kept, [next.way]: next });
    onChange({ selection: next });
  };
  const list = linkDocuments(caseId, selection);
  const ids = kept.ids?.way === "ids" ? kept.ids : null;
  const ways: [Selection, string][] = [
    [kept.filters ?? { way: "filters", filters: {} }, "Documents that match filters"],
    ...(ids ? ([[ids, `The ${count(ids.ids.length, "document")} chosen in the list`]] as [Selection, string][]) : []),
    [kept.numbers ?? { way: "numbers", numbers: [] }, "Documents by their control numbers"],
    [{ way: "all" }, `The whole case: ${count(documents, "document")}`],
  ];
  return (
    <fieldset>
      <legend>What</legend>
      {ways.map(([each, label]) => (
        <Fragment key={each.way}>
          <label className="line">
            <input type="radio" name="way" checked={selection.way === each.way} onChange={() => select(each)} /> {label}
          </label>
          {selection.way === each.way && <Details caseId={caseId} selection={selection} onSelect={select} />}
        </Fragment>
      ))}
      {selection.way !== "all" && (
        <label className="line">
          <input
            type="checkbox"
            checked={draft.families}
            onChange={(event) => onChange({ families: event.target.checked })}
          />{" "}
          With all members of their families
        </label>
      )}
      <p className="quiet">
        <Link href={list ?? `/cases/${caseId}/documents`}>
          {selection.way === "filters" && list !== null
            ? "Look at these in the list of documents"
            : "Go to the list of documents"}
        </Link>
      </p>
    </fieldset>
  );
}

interface DetailsProps {
  caseId: number;
  selection: Selection;
  onSelect: (selection: Selection) => void;
}

/** What a way of choosing documents needs besides, below it. */
function Details({ caseId, selection, onSelect }: DetailsProps) {
  switch (selection.way) {
    case "filters":
      return (
        <div className="details">
          <FilterFields
            caseId={caseId}
            filters={selection.filters}
            onChange={(filters) => onSelect({ way: "filters", filters })}
          />
        </div>
      );
    case "numbers":
      return (
        <div className="details">
          <ControlNumbers numbers={selection.numbers} onChange={(numbers) => onSelect({ way: "numbers", numbers })} />
        </div>
      );
    case "ids":
      return selection.ids.length > MAX_CHOSEN ? <TooMany number={selection.ids.length} /> : null;
    case "all":
      return null;
  }
}

function TooMany({ number }: { number: number }) {
  return (
    <p className="fault" role="alert">
      {count(number, "document")}: by name at most {MAX_CHOSEN.toLocaleString()} can be produced. Tag them, then choose
      the tag.
    </p>
  );
}

function ControlNumbers({ numbers, onChange }: { numbers: string[]; onChange: (numbers: string[]) => void }) {
  const id = useId();
  return (
    <div className="entry">
      <label htmlFor={id}>Control numbers, one on each line</label>
      <textarea
        id={id}
        rows={6}
        className="mono"
        spellCheck={false}
        defaultValue={numbers.join("\n")}
        onChange={(event) => onChange(readLines(event.target.value))}
      />
      {numbers.length > MAX_CHOSEN && <TooMany number={numbers.length} />}
    </div>
  );
}

interface FilterProps {
  caseId: number;
  filters: Filters;
  onChange: (filters: Filters) => void;
}

function FilterFields({ caseId, filters, onChange }: FilterProps) {
  const remove = (name: string, value: string) => {
    const left = filters[name]!.filter((each) => each !== value);
    const { [name]: _gone, ...others } = filters;
    onChange(left.length ? { ...others, [name]: left } : others);
  };
  const add = (name: string) => (value: string) => {
    const before = FILTERS[name]!.isList ? (filters[name] ?? []) : [];
    onChange({ ...filters, [name]: [...new Set([...before, value])] });
  };
  const chosen = Object.entries(filters).flatMap(([name, values]) => values.map((value) => [name, value] as const));
  return (
    <>
      {chosen.length > 0 && (
        <ul className="chips" aria-label="Filters">
          {chosen.map(([name, value]) => (
            <li key={`${name} ${value}`}>
              {FILTERS[name]!.words}{" "}
              <b>
                <Untrusted text={value} />
              </b>{" "}
              <button type="button" onClick={() => remove(name, value)}>
                <span aria-hidden="true">×</span>
                <span className="unseen">
                  Remove {FILTERS[name]!.words} {value}
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
      <NameField caseId={caseId} kind="tags" label="Tag" onAdd={add("tag")} />
      <NameField caseId={caseId} kind="tags" label="Without tag" onAdd={add("withoutTag")} />
      <NameField caseId={caseId} kind="custodians" label="Custodian" onAdd={add("custodian")} />
    </>
  );
}

interface NameProps {
  caseId: number;
  kind: "tags" | "custodians";
  label: string;
  onAdd: (name: string) => void;
}

/** A name of the case, with those that have the typed words offered below; one that is offered is added at once. */
function NameField({ caseId, kind, label, onAdd }: NameProps) {
  const id = useId();
  const [typed, setTyped] = useState("");
  const names = useNames(kind, caseId, useDeferredValue(typed.trim()));
  const add = (name: string) => {
    if (name) onAdd(name);
    setTyped("");
  };
  const enter = (event: FormEvent<HTMLInputElement>) => {
    const { value } = event.currentTarget;
    const isChosen = !(event.nativeEvent as InputEvent).inputType?.startsWith("insertText");
    if (isChosen && names.data?.includes(value)) add(value);
    else setTyped(value);
  };
  return (
    <div className="entry">
      <label htmlFor={id}>{label}</label>
      <span className="bar">
        <input
          id={id}
          list={`${id}-names`}
          value={typed}
          maxLength={500}
          autoComplete="off"
          spellCheck={false}
          onInput={enter}
          onKeyDown={(event) => event.key === "Enter" && add(typed.trim())}
        />
        <datalist id={`${id}-names`}>
          {names.data?.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <button type="button" disabled={!typed.trim()} onClick={() => add(typed.trim())}>
          Add<span className="unseen"> {label.toLowerCase()}</span>
        </button>
      </span>
    </div>
  );
}
