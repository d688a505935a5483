import { useId } from "react";
import { formatLocal, formatUtc, readField, type LocalTime } from "./times";

interface TimeFieldProps {
  label: string;
  value: LocalTime;
  fault?: string;
  onChange: (value: LocalTime) => void;
}

/** A local time, with what it is in UTC below: that is what is recorded. */
export function TimeField({ label, value, fault, onChange }: TimeFieldProps) {
  const id = useId();
  const read = readField(value);
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type="datetime-local"
        step={1}
        value={value.text}
        aria-describedby={`${id}-help`}
        aria-invalid={fault !== undefined}
        onChange={(event) => onChange({ text: event.target.value, isSecond: false })}
      />
      <p id={`${id}-help`} className="quiet">
        {fault && <span className="fault">{fault} </span>}
        {read && formatUtc(read.at)}
        {read?.shown === "never" && ` · The clocks went forward then: this is ${formatLocal(read.at)}.`}
      </p>
      {read?.shown === "twice" && (
        <label className="check">
          <input
            type="checkbox"
            checked={value.isSecond}
            onChange={(event) => onChange({ ...value, isSecond: event.target.checked })}
          />
          The clocks showed this time twice: it is the second one, after they were put back
        </label>
      )}
    </div>
  );
}
