import { useId, type FormEvent } from "react";
import { scale, shift } from "./ranges";
import type { Range } from "./segments";
import { nameZone, readField, toField } from "./times";

interface RangeBarProps {
  range: Range;
  isWhole: boolean;
  onChange: (range: Range | null) => void;
}

/** What part of the history is shown, and the ways to another one. */
export function RangeBar({ range, isWhole, onChange }: RangeBarProps) {
  const id = useId();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const read = (name: string) => readField({ text: String(new FormData(form).get(name)), isSecond: false })?.at;
    const [from, to] = [read("from"), read("to")];
    const field = form.elements.namedItem("to") as HTMLInputElement;
    field.setCustomValidity(from !== undefined && to !== undefined && from >= to ? "Choose a later time." : "");
    if (form.reportValidity() && from !== undefined && to !== undefined) onChange({ from, to });
  };
  return (
    <form className="bar ranges" aria-label="Part of the history" onSubmit={submit}>
      <button type="button" aria-pressed={isWhole} onClick={() => onChange(null)}>
        Whole history
      </button>
      <span className="joined">
        <button type="button" onClick={() => onChange(shift(range, -0.5))}>
          Earlier
        </button>
        <button type="button" onClick={() => onChange(shift(range, 0.5))}>
          Later
        </button>
        <button type="button" onClick={() => onChange(scale(range, 0.5))}>
          Zoom in
        </button>
        <button type="button" onClick={() => onChange(scale(range, 2))}>
          Zoom out
        </button>
      </span>
      <span className="bound">
        <label htmlFor={`${id}-from`}>From</label>
        <Bound key={range.from} id={`${id}-from`} name="from" at={range.from} />
      </span>
      <span className="bound">
        <label htmlFor={`${id}-to`}>to</label>
        <Bound key={range.to} id={`${id}-to`} name="to" at={range.to} />
      </span>
      <button type="submit">Show</button>
      <span className="quiet">{nameZone()}</span>
    </form>
  );
}

function Bound({ id, name, at }: { id: string; name: string; at: number }) {
  return (
    <input
      id={id}
      name={name}
      type="datetime-local"
      step={1}
      required
      defaultValue={toField(at).text}
      onInput={(event) =>
        event.currentTarget.form?.querySelectorAll("input").forEach((each) => each.setCustomValidity(""))
      }
    />
  );
}
