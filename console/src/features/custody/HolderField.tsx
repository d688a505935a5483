import { useDeferredValue, useId, useState } from "react";
import { Untrusted } from "../../ui/Untrusted";
import type { Choice } from "./drafts";
import { NewCustodian } from "./NewCustodian";
import { useCustodians } from "./queries";

interface HolderFieldProps {
  legend: string;
  value: Choice;
  fault?: string;
  onChange: (value: Choice) => void;
}

/** Who holds the device: a custodian of any case, found by name; or “Not recorded”. */
export function HolderField({ legend, value, fault, onChange }: HolderFieldProps) {
  const id = useId();
  const [words, setWords] = useState("");
  const search = useDeferredValue(words.trim());
  const found = useCustodians(search);
  const shown = search === "" ? [] : (found.data?.items ?? []);
  const isNew = search !== "" && found.isSuccess && !shown.some((each) => each.name === search);
  return (
    <fieldset className="holder" aria-describedby={fault ? `${id}-fault` : undefined}>
      <legend>{legend}</legend>
      <input
        type="search"
        aria-label="Find a custodian by name"
        placeholder="Find a custodian by name"
        value={words}
        maxLength={255}
        autoComplete="off"
        onChange={(event) => setWords(event.target.value)}
        onKeyDown={(event) => event.key === "Enter" && event.preventDefault()}
      />
      {fault && (
        <p id={`${id}-fault`} className="fault">
          {fault}
        </p>
      )}
      {value && !shown.some((each) => each.id === value.id) && (
        <Option name={id} isChosen text={value.name} of={value.case} onChoose={() => onChange(value)} />
      )}
      {shown.map((each) => (
        <Option
          key={each.id}
          name={id}
          isChosen={value?.id === each.id}
          text={each.name}
          of={each.case}
          onChoose={() => onChange({ id: each.id, name: each.name, case: each.case })}
        />
      ))}
      <label className="check">
        <input type="radio" name={id} checked={value === null} onChange={() => onChange(null)} />
        Not recorded
      </label>
      {found.data?.next && search !== "" && <p className="quiet">There are more; type more of the name.</p>}
      {isNew && <NewCustodian key={search} name={search} isOnly={shown.length === 0} onMade={onChange} />}
    </fieldset>
  );
}

interface OptionProps {
  name: string;
  isChosen: boolean;
  text: string;
  of?: string;
  onChoose: () => void;
}

const Option = ({ name, isChosen, text, of, onChoose }: OptionProps) => (
  <label className="check">
    <input type="radio" name={name} checked={isChosen} onChange={onChoose} />
    <span>
      <Untrusted text={text} />
      {of !== undefined && (
        <span className="quiet">
          {" "}
          · <Untrusted text={of} />
        </span>
      )}
    </span>
  </label>
);
