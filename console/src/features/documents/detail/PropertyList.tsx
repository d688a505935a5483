import { Fragment, useId, useState, type ReactNode } from "react";

const SEARCHED_FROM = 30;
const FIRST = 30;
const STEP = 200;

interface Props {
  names: readonly string[];
  /** What the search looks in besides the name. */
  valueOf: (name: string) => string;
  children: (name: string) => ReactNode;
  /** What is around the shown ones. */
  wrap?: (shown: ReactNode) => ReactNode;
}

/** The columns of the load file that feed no field: searched, and shown in parts, where there are many. */
export function PropertyList({ names, valueOf, children, wrap = (shown) => shown }: Props) {
  const id = useId();
  const [words, setWords] = useState("");
  const [most, setMost] = useState(FIRST);
  const sought = words.trim().toLowerCase();
  const found = sought === "" ? names : names.filter((name) => has(name, sought) || has(valueOf(name), sought));
  const left = found.length - most;
  return (
    <>
      {names.length > SEARCHED_FROM && (
        <p className="bar">
          <label htmlFor={id}>Find a column</label>
          <input
            id={id}
            type="search"
            value={words}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => (setWords(event.target.value), setMost(FIRST))}
          />
          <span className="quiet" role="status">
            {sought === "" ? "" : `${found.length.toLocaleString()} of ${names.length.toLocaleString()}`}
          </span>
        </p>
      )}
      {sought !== "" && found.length === 0 && <p className="quiet">No column has this in its name or its value.</p>}
      {found.length > 0 && wrap(found.slice(0, most).map((name) => <Fragment key={name}>{children(name)}</Fragment>))}
      {left > 0 && (
        <button type="button" onClick={() => setMost(most + STEP)}>
          Show {Math.min(left, STEP).toLocaleString()} more of {left.toLocaleString()} columns
        </button>
      )}
    </>
  );
}

const has = (text: string, sought: string) => text.toLowerCase().includes(sought);
