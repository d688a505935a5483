import { useId, type ReactNode } from "react";
import { LeaveGuard } from "../../ui/LeaveGuard";
import type { Faults, PeriodDraft } from "./drafts";
import { HolderField } from "./HolderField";
import { TimeField } from "./TimeField";
import { nameZone } from "./times";

interface PeriodFieldsProps {
  draft: PeriodDraft;
  faults: Faults;
  onChange: (draft: PeriodDraft) => void;
}

/** The fields of a period. */
export function PeriodFields({ draft, faults, onChange }: PeriodFieldsProps) {
  const id = useId();
  return (
    <>
      <TimeField
        label="Begin"
        value={draft.begin}
        fault={faults.begin}
        onChange={(begin) => onChange({ ...draft, begin })}
      />
      <fieldset>
        <legend>End</legend>
        <label className="check">
          <input type="radio" name={id} checked={draft.isOpen} onChange={() => onChange({ ...draft, isOpen: true })} />
          The device is still held
        </label>
        <label className="check">
          <input
            type="radio"
            name={id}
            checked={!draft.isOpen}
            onChange={() => onChange({ ...draft, isOpen: false })}
          />
          It has ended
        </label>
        {!draft.isOpen && (
          <TimeField
            label="Ended"
            value={draft.end}
            fault={faults.end}
            onChange={(end) => onChange({ ...draft, end })}
          />
        )}
      </fieldset>
      <HolderField
        legend="Holder"
        value={draft.holder}
        fault={faults.holder}
        onChange={(holder) => onChange({ ...draft, holder })}
      />
      <Note value={draft.note} onChange={(note) => onChange({ ...draft, note })} />
      <p className="quiet">Times are those of {nameZone()}; in UTC below each.</p>
    </>
  );
}

export function Note({ value, onChange }: { value: string; onChange: (note: string) => void }) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>Note</label>
      <textarea id={id} rows={2} maxLength={1_000} value={value} onChange={(event) => onChange(event.target.value)} />
    </div>
  );
}

/** What is said of a draft that was typed before, and the question before it is lost. */
export function KeptDraft(props: { isKept: boolean; isDirty: boolean; onAgain: () => void; children?: ReactNode }) {
  return (
    <>
      {props.isKept && (
        <p className="quiet">
          What you entered before is here.{" "}
          <button type="button" onClick={props.onAgain}>
            Start again
          </button>
        </p>
      )}
      <LeaveGuard isActive={props.isDirty} title="Leave the page?" leave="Leave, and lose it">
        <p>What you entered here is not recorded yet.</p>
      </LeaveGuard>
    </>
  );
}
