import { useId } from "react";
import { faultOfVolume, type Draft } from "./draft";
import { readLines } from "./selection";

interface VolumeProps {
  draft: Draft;
  /** The name that the volume has if none is entered. */
  next: string;
  onChange: (changes: Partial<Draft>) => void;
}

/** The name of the volume, and what its data file has besides. */
export function VolumeFields({ draft, next, onChange }: VolumeProps) {
  const id = useId();
  const fault = draft.volume ? faultOfVolume(draft.volume) : null;
  return (
    <fieldset>
      <legend>Volume</legend>
      <div className="entry">
        <label htmlFor={id}>Name</label>
        <input
          id={id}
          className="mono"
          value={draft.volume}
          placeholder={next}
          maxLength={64}
          autoComplete="off"
          spellCheck={false}
          aria-invalid={fault !== null}
          aria-describedby={`${id}-help`}
          onChange={(event) => onChange({ volume: event.target.value.trim() })}
        />
        <div id={`${id}-help`}>
          {fault ? <p className="fault">{fault}</p> : !draft.volume && <p className="quiet">The next one is {next}.</p>}
        </div>
      </div>
      <div className="entry">
        <label htmlFor={`${id}-columns`}>Columns of the original load file to include, one on each line</label>
        <textarea
          id={`${id}-columns`}
          rows={3}
          spellCheck={false}
          defaultValue={draft.columns.join("\n")}
          onChange={(event) => onChange({ columns: readLines(event.target.value) })}
        />
      </div>
      <p className="quiet">
        The volume has a DAT file in UTF-8, an OPT file if pages are produced, natives, texts, images, and a manifest
        with the hash of every file. Tags are never included.
      </p>
    </fieldset>
  );
}
