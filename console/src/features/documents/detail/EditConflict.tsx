import { useEffect, useId, useRef, type ReactNode } from "react";
import { Untrusted } from "../../../ui/Untrusted";
import { Time, count } from "../../../ui/values";
import { findConflicts, isDecided, listChanged, type Choices, type Conflict, type Draft } from "./draft";
import { FIELDS, isProperty, labelOf, placeOf, placeOfProperty, type Place } from "./fields";
import { Changed, FoldedText } from "./Text";
import { changeWork, type EditConflict as Found } from "./work";
import { nameWriter, type Entry } from "./writers";

const SHORT = 160;

interface Props {
  id: number;
  draft: Draft;
  conflict: Found;
  onSave: () => void;
}

/** What others have saved where the user has changed something, side by side, for the user to choose. */
export function EditConflict({ id, draft, conflict, onSave }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const conflicts = findConflicts(draft, conflict.theirs);
  const open = conflicts.filter(({ place }) => !conflict.choices.has(place)).length;
  const choose = (choices: Choices) =>
    changeWork(id, { conflict: { ...conflict, choices: new Map([...conflict.choices, ...choices]) } });
  const chooseAll = (side: "mine" | "theirs") => choose(new Map(conflicts.map(({ place }) => [place, side])));
  return (
    <section aria-labelledby={`conflict-${id}`}>
      <h3 id={`conflict-${id}`} ref={heading} tabIndex={-1}>
        Others have changed the same values
      </h3>
      <p>
        The document has version {conflict.theirs.version} now, and you began with version {draft.base.version}. Your
        changes are not saved, and none of them is lost. Choose what is to stay.
      </p>
      <Elsewhere draft={draft} conflict={conflict} conflicts={conflicts} />
      {conflicts.map((each) => (
        <Sides
          key={each.place}
          conflict={each}
          writer={conflict.writers.get(each.place)}
          choice={conflict.choices.get(each.place)}
          onChoice={(side) => choose(new Map([[each.place, side]]))}
        />
      ))}
      <div className="bar">
        {isDecided(conflicts, conflict.choices) ? (
          <button type="button" className="primary" onClick={onSave}>
            Save over version {conflict.theirs.version}
          </button>
        ) : (
          <span role="status">Choose for {count(open, "value")}.</span>
        )}
        {conflicts.length > 1 && (
          <>
            <button type="button" onClick={() => chooseAll("mine")}>
              Use mine everywhere
            </button>
            <button type="button" onClick={() => chooseAll("theirs")}>
              Keep theirs everywhere
            </button>
          </>
        )}
        <button type="button" onClick={() => changeWork(id, { conflict: null })}>
          Back to the form
        </button>
      </div>
    </section>
  );
}

/** What others have changed besides, which stays as it is now. */
function Elsewhere({ draft, conflict, conflicts }: { draft: Draft; conflict: Found; conflicts: readonly Conflict[] }) {
  const places = new Set<Place>([
    ...FIELDS.map(({ name }) => placeOf(name)),
    ...Object.keys({ ...draft.base.properties, ...conflict.theirs.properties }).map(placeOfProperty),
  ]);
  for (const { place } of conflicts) places.delete(place);
  const changed = listChanged(draft.base, conflict.theirs, places);
  if (changed.length === 0) return null;
  return (
    <p className="quiet">
      Also changed, and not by you:{" "}
      {changed.slice(0, 10).map((place, at) => (
        <span key={place}>
          {at > 0 && ", "}
          <Label place={place} />
        </span>
      ))}
      {changed.length > 10 && ` and ${(changed.length - 10).toLocaleString()} more`}. These stay as they are now.
    </p>
  );
}

const Label = ({ place }: { place: Place }) =>
  isProperty(place) ? <Untrusted text={labelOf(place)} /> : <>{labelOf(place)}</>;

interface SidesProps {
  conflict: Conflict;
  writer: Entry | undefined;
  choice: "mine" | "theirs" | undefined;
  onChoice: (side: "mine" | "theirs") => void;
}

function Sides({ conflict: { place, before, mine, theirs }, writer, choice, onChoice }: SidesProps) {
  const name = useId();
  return (
    <fieldset className="sides">
      <legend>
        <Label place={place} />
      </legend>
      <Side name={name} label="Yours" isChosen={choice === "mine"} onChoice={() => onChoice("mine")}>
        <Changed old={before} now={mine.trim() === "" ? null : mine} />
      </Side>
      <Side
        name={name}
        label={theirs === before ? "In the case, as before" : "In the case now"}
        isChosen={choice === "theirs"}
        onChoice={() => onChoice("theirs")}
        note={writer && <Writer entry={writer} />}
      >
        <Changed old={before} now={theirs === "" ? null : theirs} />
      </Side>
      <div className="side">
        <strong>When you began</strong>
        <div>
          <FoldedText text={before} most={SHORT} />
        </div>
      </div>
    </fieldset>
  );
}

interface SideProps {
  name: string;
  label: string;
  isChosen: boolean;
  onChoice: () => void;
  note?: ReactNode;
  children: ReactNode;
}

function Side({ name, label, isChosen, onChoice, note, children }: SideProps) {
  const id = useId();
  return (
    <div className={isChosen ? "side chosen" : "side"}>
      <label>
        <input type="radio" name={name} checked={isChosen} onChange={onChoice} aria-describedby={id} />{" "}
        <strong>{label}</strong>
      </label>
      {note && <p>{note}</p>}
      <div id={id}>{children}</div>
    </div>
  );
}

function Writer({ entry }: { entry: Entry }) {
  const name = nameWriter(entry);
  return (
    <span className="quiet">
      {entry.importId === null ? (
        <>by {name === null ? "a user who is not known" : <Untrusted text={name} />}, </>
      ) : (
        `by ${entry.undoNo === null ? "" : "the undo of "}import ${entry.importId}, `
      )}
      <Time value={entry.changedAt} />
    </span>
  );
}
