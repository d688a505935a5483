import { useState } from "react";
import type { Picked, Thing } from "../../upload";
import { FileButtons } from "../../ui/DropTarget";
import { Untrusted } from "../../ui/Untrusted";
import { describeThing, join } from "./words";

interface ThingsProps {
  picked: Picked;
  onThing: (thing: Thing) => void;
  onFiles: (files: File[]) => void;
}

const KINDS: Record<Thing["kind"], string> = {
  "load-file": "load file",
  volume: "folder",
  zip: "zip",
  other: "not a load file by its name",
};

const MOST = 100;

/** Several things were chosen, or none of use: the user says which one this import is about. */
export function Things({ picked, onThing, onFiles }: ThingsProps) {
  const [chosen, setChosen] = useState(0);
  const thing = picked.things[chosen];
  return (
    <div className="stack">
      {picked.things.length === 0 ? (
        <p role="alert">Nothing of what you chose can be imported: it has no load file, zip or folder with files.</p>
      ) : (
        <fieldset className="choices">
          <legend>
            {picked.things.length === 1 ? "Is this a load file?" : "Which one? Each is an import of its own."}
          </legend>
          {picked.things.slice(0, MOST).map((each, index) => (
            <label key={`${each.name} ${index}`}>
              <input type="radio" name="thing" checked={chosen === index} onChange={() => setChosen(index)} />
              <span>
                <Untrusted text={each.name} />{" "}
                <span className="quiet">
                  {KINDS[each.kind]} · {describeThing(each)}
                </span>
              </span>
            </label>
          ))}
          {picked.things.length > MOST && (
            <p>{(picked.things.length - MOST).toLocaleString("en-US")} more are not listed here. Choose fewer files.</p>
          )}
        </fieldset>
      )}
      {thing && (
        <button type="button" className="primary" onClick={() => onThing(thing)}>
          {thing.kind === "other" ? "Read it as a load file" : "Import this one"}
        </button>
      )}
      <FileButtons onFiles={onFiles} />
    </div>
  );
}

/** What is left out of a folder, so that its number of files is not a surprise. */
export function LeftOut({ picked }: { picked: Picked }) {
  const kinds = Object.entries(picked.leftOut);
  if (kinds.length === 0) return null;
  const names = kinds.map(([kind, number]) => `${number.toLocaleString("en-US")} ${kind}`);
  return <p className="quiet">{`Left out, because systems add them: ${join(names)}.`}</p>;
}
