import { useId, type ReactNode } from "react";
import { keepLineEnds, toControl } from "../../../ui/lineEnds";
import { Untrusted, UNSEEN } from "../../../ui/Untrusted";
import { setText, textAt, type Draft } from "./draft";
import { fieldOf, findFault, readText, type Place } from "./fields";
import { FoldedText } from "./Text";

const SHOWN = 200;
const SHORT = 120;
const FORM = "2019-12-31 or 2019-12-31 14:05";

interface Props {
  draft: Draft;
  place: Place;
  label: ReactNode;
  refused: string | undefined;
  onDraft: (how: (draft: Draft) => Draft) => void;
}

/** The control of a field or property, with what it was and why it cannot be saved as it is. */
export function Control({ draft, place, label, refused, onDraft }: Props) {
  const id = useId();
  const [text, before] = [textAt(draft, place), readText(draft.base, place)];
  const kind = fieldOf(place)?.kind;
  const isChanged = draft.texts.has(place);
  const fault = (isChanged ? findFault(place, text) : null) ?? refused;
  const change = (shown: string) => onDraft((now) => setText(now, place, keepLineEnds(textAt(now, place), shown)));
  const shared = {
    id,
    dir: "auto",
    spellCheck: false,
    autoComplete: "off",
    "aria-invalid": fault ? true : undefined,
    "aria-describedby": isChanged || fault ? `${id}-note` : undefined,
    className: fault ? "bad" : isChanged ? "edited" : undefined,
  } as const;
  return (
    <div className="control">
      <label htmlFor={id}>{label}</label>
      {kind === "date" || kind === "number" ? (
        <input
          {...shared}
          placeholder={kind === "date" ? FORM : undefined}
          value={text}
          onChange={(event) => change(event.target.value)}
        />
      ) : (
        <textarea {...shared} rows={1} value={toControl(text)} onChange={(event) => change(event.target.value)} />
      )}
      <div id={`${id}-note`} className="note">
        {fault && <p className="fault">▲ {fault}</p>}
        {UNSEEN.test(text) && (
          <p className="quiet">
            It has characters that are not seen: <Untrusted text={text.slice(0, SHOWN)} />
          </p>
        )}
        {isChanged && (
          <p className="quiet">
            {text.trim() === "" ? "Will be removed. " : ""}
            {before === "" ? "It was blank." : "It was: "}
            {before !== "" && <FoldedText text={before} most={SHORT} />}{" "}
            <button
              type="button"
              className="small"
              onClick={() => onDraft((now) => setText(now, place, readText(now.base, place)))}
            >
              Put it back<span className="unseen"> {label}</span>
            </button>
          </p>
        )}
      </div>
    </div>
  );
}
