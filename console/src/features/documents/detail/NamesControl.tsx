import { useDeferredValue, useId, useState, type KeyboardEvent } from "react";
import { Untrusted } from "../../../ui/Untrusted";
import { useFacets } from "../facets";
import { addName, removeName, type Draft, type ListName } from "./draft";

interface Props {
  draft: Draft;
  list: ListName;
  label: string;
  one: string;
  refused: string | undefined;
  onDraft: (how: (draft: Draft) => Draft) => void;
}

/** The custodians or tags of a document: each is added and removed by itself, whatever others do to the list. */
export function NamesControl({ draft, list, label, one, refused, onDraft }: Props) {
  const id = useId();
  const { added, removed } = draft[list];
  return (
    <div className="control" role="group" aria-labelledby={`${id}-label`}>
      <span id={`${id}-label`}>{label}</span>
      <ul className="plain names">
        {draft.base[list].map((name) => {
          const isOut = removed.includes(name);
          return (
            <li key={`kept ${name}`}>
              {isOut ? (
                <del>
                  <Untrusted text={name} />
                </del>
              ) : (
                <Untrusted text={name} />
              )}
              <Button
                verb={isOut ? "Keep" : "Remove"}
                name={name}
                onClick={() => onDraft((now) => (isOut ? addName : removeName)(now, list, name))}
              />
            </li>
          );
        })}
        {added.map((name) => (
          <li key={`added ${name}`}>
            <ins>
              <Untrusted text={name} />
            </ins>
            <Button verb="Do not add" name={name} onClick={() => onDraft((now) => removeName(now, list, name))} />
          </li>
        ))}
      </ul>
      <Entry
        caseId={draft.base.caseId}
        list={list}
        one={one}
        refused={refused}
        onName={(name) => onDraft((now) => addName(now, list, name))}
      />
    </div>
  );
}

function Button({ verb, name, onClick }: { verb: string; name: string; onClick: () => void }) {
  return (
    <button type="button" className="small" onClick={onClick}>
      {verb}
      <span className="unseen"> {name}</span>
    </button>
  );
}

interface EntryProps {
  caseId: number;
  list: ListName;
  one: string;
  refused: string | undefined;
  onName: (name: string) => void;
}

/** Where a name is entered, with those of the case that have the typed words. What is typed is taken on leaving, too. */
function Entry({ caseId, list, one, refused, onName }: EntryProps) {
  const id = useId();
  const [typed, setTyped] = useState("");
  const names = useFacets(list, caseId, useDeferredValue(typed.trim()));
  const take = () => {
    if (typed.trim() !== "") onName(typed);
    setTyped("");
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter") return;
    // With Ctrl the panel saves what is taken here first.
    if (!event.ctrlKey && typed.trim() !== "") event.preventDefault();
    take();
  };
  return (
    <>
      <span className="bar">
        <input
          aria-label={`Add a ${one}`}
          placeholder={`Add a ${one}`}
          list={`${id}-names`}
          value={typed}
          autoComplete="off"
          spellCheck={false}
          aria-invalid={refused ? true : undefined}
          aria-describedby={refused ? `${id}-fault` : undefined}
          onChange={(event) => setTyped(event.target.value)}
          onKeyDown={onKeyDown}
          onBlur={take}
        />
        <button type="button" onClick={take}>
          Add<span className="unseen"> the {one}</span>
        </button>
      </span>
      <datalist id={`${id}-names`}>
        {names.data?.items.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {refused && (
        <p id={`${id}-fault`} className="fault">
          ▲ <Untrusted text={refused} />
        </p>
      )}
    </>
  );
}
