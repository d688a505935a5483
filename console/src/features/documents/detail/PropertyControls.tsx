import { useId, useState } from "react";
import { Untrusted } from "../../../ui/Untrusted";
import { Control } from "./Control";
import { textAt, type Draft } from "./draft";
import { isProperty, nameOf, placeOfProperty } from "./fields";
import { PropertyList } from "./PropertyList";

interface Props {
  draft: Draft;
  faults: ReadonlyMap<string, string>;
  onDraft: (how: (draft: Draft) => Draft) => void;
}

/** The other columns, each with a control, and a place for one that the document does not have yet. */
export function PropertyControls({ draft, faults, onDraft }: Props) {
  const [begun, setBegun] = useState<readonly string[]>([]);
  const entered = [...draft.texts.keys()].filter(isProperty).map(nameOf);
  // New ones and refused ones stand first.
  const refused = [...faults.keys()].filter((place) => place.startsWith("property:")).map((place) => place.slice(9));
  const stored = Object.keys(draft.base.properties);
  const isStored = new Set(stored);
  const first = [...begun, ...entered.filter((name) => !isStored.has(name)), ...refused];
  const names = [...new Set([...first, ...stored])];
  return (
    <>
      <h3>Other columns</h3>
      {faults.get("properties") && <p className="fault">▲ {faults.get("properties")}</p>}
      <PropertyList names={names} valueOf={(name) => textAt(draft, placeOfProperty(name))}>
        {(name) => {
          const place = placeOfProperty(name);
          return (
            <Control
              draft={draft}
              place={place}
              label={<Untrusted text={name} />}
              refused={faults.get(place)}
              onDraft={onDraft}
            />
          );
        }}
      </PropertyList>
      <NewColumn onName={(name) => setBegun((before) => [...new Set([name, ...before])])} />
    </>
  );
}

function NewColumn({ onName }: { onName: (name: string) => void }) {
  const id = useId();
  const [name, setName] = useState("");
  const add = () => {
    if (name.trim() === "") return;
    onName(name.trim());
    setName("");
  };
  return (
    <p className="bar">
      <label htmlFor={id}>Add a column</label>
      <input
        id={id}
        value={name}
        maxLength={255}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => setName(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.ctrlKey) return;
          event.preventDefault();
          add();
        }}
      />
      <button type="button" onClick={add}>
        Add<span className="unseen"> the column</span>
      </button>
    </p>
  );
}
