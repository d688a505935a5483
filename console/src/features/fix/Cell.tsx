import { useState, type KeyboardEvent } from "react";
import { nameReason } from "../../ui/codes";
import { keepLineEnds, toControl } from "../../ui/lineEnds";
import { Untrusted, UNSEEN } from "../../ui/Untrusted";
import type { CellError } from "./rows";

const LONG = 5_000;

interface Props {
  label: string;
  line: number;
  at: number;
  text: string;
  /** The text as it was rejected. */
  original: string;
  faults: readonly CellError[] | undefined;
  isDone: boolean;
  isInOrder: boolean;
  onText: (text: string) => void;
  onClose: () => void;
}

/**
 * A cell in a text control of several lines: one of a single line would drop the line breaks of the file. A cell with a
 * fault comes first in the order of the Tab key, the others are reached by the arrows.
 */
export function Cell(props: Props) {
  const { text, original, faults, line, at, isDone } = props;
  const isBad = faults !== undefined && !isDone;
  const isEdited = text !== original;
  const [isOpen, setOpen] = useState(false);
  if (text.length > LONG && !isOpen) return <LongCell text={text} isBad={isBad} onOpen={() => setOpen(true)} />;
  const suggestion = isBad ? faults.find((each) => each.suggestion !== null)?.suggestion : null;
  const change = (shown: string) => props.onText(keepLineEnds(text, shown));
  const accept = (event: KeyboardEvent) => {
    if (suggestion == null || !event.ctrlKey || event.code !== "Space") return;
    event.preventDefault();
    props.onText(suggestion);
  };
  const note = `note-${line}-${at}`;
  return (
    <>
      <textarea
        rows={1}
        dir="auto"
        spellCheck={false}
        className={isBad ? "bad" : isEdited ? "edited" : undefined}
        aria-label={`${props.label}, line ${line}`}
        aria-invalid={isBad || undefined}
        aria-describedby={isBad || isEdited ? note : undefined}
        tabIndex={props.isInOrder ? undefined : -1}
        data-fault={isBad || undefined}
        data-cell={`${line}:${at}`}
        value={toControl(text)}
        onChange={(event) => change(event.target.value)}
        onKeyDown={accept}
        onBlur={props.onClose}
      />
      {UNSEEN.test(text) && (
        <span className="unseen-characters">
          <Untrusted text={text.slice(0, 200)} />
        </span>
      )}
      <span id={note} className="note">
        {isBad && (
          <span className="mark">▲ {[...new Set(faults.map((each) => nameReason(each.code)))].join(", ")}</span>
        )}
        {isEdited && (
          <>
            edited, was <Was text={original} />
          </>
        )}
      </span>
      {suggestion != null && (
        <button type="button" className="small" tabIndex={-1} onClick={() => props.onText(suggestion)}>
          Use <Untrusted text={suggestion} /> <kbd>Ctrl+Space</kbd>
        </button>
      )}
    </>
  );
}

function Was({ text }: { text: string }) {
  if (text === "") return <>blank</>;
  return (
    <s>
      <Untrusted text={text.length > 80 ? `${text.slice(0, 80)}…` : text} />
    </s>
  );
}

function LongCell({ text, isBad, onOpen }: { text: string; isBad: boolean; onOpen: () => void }) {
  return (
    <>
      <Untrusted text={`${text.slice(0, 200)}…`} />
      <button type="button" className="small" data-fault={isBad || undefined} onClick={onOpen}>
        Edit all {text.length.toLocaleString()} characters
      </button>
    </>
  );
}
