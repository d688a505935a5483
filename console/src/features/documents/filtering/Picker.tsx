import { useEffect, useId, useRef, useState, type KeyboardEvent, type ReactNode } from "react";

/** What can be chosen: the text is the key; the label and the detail are what is seen. */
export interface Choice {
  key: string;
  label: ReactNode;
  detail?: ReactNode;
  choose: () => void;
}

interface PickerProps {
  label: string;
  typed: string;
  onType: (typed: string) => void;
  choices: Choice[];
  /** What stands below the list: what its numbers are, or that it has no end here. */
  note?: ReactNode;
  /** Whether the choices are those for what is typed now; Enter waits for them. */
  isCurrent?: boolean;
  autoFocus?: boolean;
  maxLength?: number;
}

/** A field with the names that have the typed words below it: arrows move, Enter takes the marked one, at first the first. */
export function Picker({
  label,
  typed,
  onType,
  choices,
  note,
  isCurrent = true,
  autoFocus,
  maxLength = 500,
}: PickerProps) {
  const id = useId();
  const [marked, setMarked] = useState(0);
  const at = Math.min(marked, choices.length - 1);
  const isAwaited = useRef(false);
  useEffect(() => {
    if (!isAwaited.current || !isCurrent) return;
    isAwaited.current = false;
    choices[at]?.choose();
  });
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && choices.length) {
      event.preventDefault();
      const next = (at + step + choices.length) % choices.length;
      setMarked(next);
      document.getElementById(`${id}-${next}`)?.scrollIntoView({ block: "nearest" });
    }
    if (event.key === "Enter") {
      event.preventDefault();
      if (isCurrent) choices[at]?.choose();
      else isAwaited.current = true;
    }
  };
  return (
    <div className="picker">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        role="combobox"
        aria-expanded={choices.length > 0}
        aria-controls={choices.length > 0 ? `${id}-list` : undefined}
        aria-activedescendant={choices.length > 0 ? `${id}-${at}` : undefined}
        aria-autocomplete="list"
        autoComplete="off"
        spellCheck={false}
        autoFocus={autoFocus}
        maxLength={maxLength}
        value={typed}
        onChange={(event) => {
          setMarked(0);
          isAwaited.current = false;
          onType(event.target.value);
        }}
        onKeyDown={onKeyDown}
      />
      {choices.length > 0 && (
        <ul id={`${id}-list`} role="listbox" aria-label={label}>
          {choices.map((each, index) => (
            <li
              key={each.key}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === at}
              onPointerMove={() => setMarked(index)}
              onClick={each.choose}
            >
              <span className="name">{each.label}</span>
              {each.detail !== undefined && <span className="quiet num">{each.detail}</span>}
            </li>
          ))}
        </ul>
      )}
      {note && <p className="quiet">{note}</p>}
    </div>
  );
}
