import { useId } from "react";
import type { Schemas } from "../../api/client";
import { DIGITS, faultOfPrefix, MAX_DIGITS, type Draft, type Numbering } from "./draft";

interface NumberProps {
  draft: Draft;
  prefixes: Schemas["BatesPrefix"][];
  /** The prefix of the draft, if the case uses it: it keeps its digits and goes on. */
  known: Schemas["BatesPrefix"] | undefined;
  onChange: (changes: Partial<Draft>) => void;
}

const NUMBERINGS: [Numbering | null, string][] = [
  [null, "page if documents have pages, else document"],
  ["page", "page"],
  ["document", "document, without page images"],
];

/** The Bates numbers: their prefix, how they go on or begin, and what has one. */
export function NumberFields({ draft, prefixes, known, onChange }: NumberProps) {
  const id = useId();
  const fault = draft.prefix ? faultOfPrefix(draft.prefix) : null;
  return (
    <fieldset>
      <legend>Bates numbers</legend>
      <div className="entry">
        <label htmlFor={id}>Prefix</label>
        <input
          id={id}
          list={`${id}-prefixes`}
          className="mono"
          value={draft.prefix}
          maxLength={64}
          autoComplete="off"
          spellCheck={false}
          aria-invalid={fault !== null}
          aria-describedby={`${id}-help`}
          onChange={(event) => onChange({ prefix: event.target.value.trim() })}
        />
        <datalist id={`${id}-prefixes`}>
          {prefixes.map((each) => (
            <option
              key={each.prefix}
              value={each.prefix}
              label={each.nextBates ? `next ${each.nextBates}` : "used up"}
            />
          ))}
        </datalist>
        <div id={`${id}-help`}>
          {fault && <p className="fault">{fault}</p>}
          {known && <KnownPrefix known={known} />}
          {!known && prefixes.length > 0 && !fault && <Offered prefixes={prefixes} onChange={onChange} />}
        </div>
      </div>
      {!known && <BeginFields draft={draft} onChange={onChange} />}
      <div className="entry">
        <label htmlFor={`${id}-numbering`}>One number for each</label>
        <select
          id={`${id}-numbering`}
          value={draft.numbering ?? ""}
          onChange={(event) => {
            const numbering = (event.target.value || null) as Numbering | null;
            onChange({ numbering, slipSheets: draft.slipSheets && numbering !== "document" });
          }}
        >
          {NUMBERINGS.map(([value, words]) => (
            <option key={words} value={value ?? ""}>
              {words}
            </option>
          ))}
        </select>
      </div>
      <label className="line">
        <input
          type="checkbox"
          checked={draft.slipSheets}
          disabled={draft.numbering === "document"}
          onChange={(event) => onChange({ slipSheets: event.target.checked })}
        />{" "}
        A numbered slip sheet for each document without images
      </label>
    </fieldset>
  );
}

function KnownPrefix({ known }: { known: Schemas["BatesPrefix"] }) {
  const { voidRanges } = known;
  return (
    <p className="quiet">
      In use with {known.digits} digits.{" "}
      {known.nextBates === null ? (
        "Its digits are used up: choose another prefix."
      ) : (
        <>
          The next number is <span className="mono">{known.nextBates}</span>.
        </>
      )}
      {voidRanges.length > 0 && (
        <>
          {" "}
          Void:{" "}
          <span className="mono">
            {voidRanges
              .slice(0, 3)
              .map((each) => (each.first === each.last ? each.first : `${each.first}–${each.last}`))
              .join(", ")}
          </span>
          {voidRanges.length > 3 && ` and ${voidRanges.length - 3} more`}.
        </>
      )}
    </p>
  );
}

function Offered({ prefixes, onChange }: Pick<NumberProps, "prefixes" | "onChange">) {
  return (
    <p className="quiet">
      In use:{" "}
      {prefixes.slice(0, 5).map((each) => (
        <button key={each.prefix} type="button" className="mono" onClick={() => onChange({ prefix: each.prefix })}>
          {each.prefix}
        </button>
      ))}
    </p>
  );
}

function BeginFields({ draft, onChange }: Pick<NumberProps, "draft" | "onChange">) {
  const id = useId();
  const read = (text: string, most: number) => {
    const value = Number(text);
    return Number.isSafeInteger(value) && value >= 1 ? Math.min(value, most) : null;
  };
  return (
    <div className="bar">
      <div className="entry">
        <label htmlFor={`${id}-digits`}>Digits</label>
        <input
          id={`${id}-digits`}
          type="number"
          min={1}
          max={MAX_DIGITS}
          value={draft.digits}
          onChange={(event) => onChange({ digits: read(event.target.value, MAX_DIGITS) ?? DIGITS })}
        />
      </div>
      <div className="entry">
        <label htmlFor={`${id}-start`}>First number</label>
        <input
          id={`${id}-start`}
          type="number"
          min={1}
          placeholder="1"
          value={draft.start ?? ""}
          onChange={(event) => onChange({ start: read(event.target.value, 10 ** MAX_DIGITS - 1) })}
        />
      </div>
    </div>
  );
}
