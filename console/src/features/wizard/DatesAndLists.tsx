import { useId } from "react";
import type { Schemas } from "../../api/client";
import type { Options } from "./kept";
import { TextSetting } from "./TextSetting";
import { nameSign } from "./words";

interface DatesAndListsProps {
  options: Options;
  dateOrder: Schemas["PreviewFinding"] | undefined;
  onChange: (options: Options) => void;
}

/** What is right for nearly every file, and decides much where it is not. */
export function DatesAndLists({ options, dateOrder, onChange }: DatesAndListsProps) {
  const id = useId();
  const order = typeof options.dateOrder === "string" ? options.dateOrder : "";
  const found = dateOrder?.value == null ? "Detect it" : `${nameSign(dateOrder.value)} – as found`;
  return (
    <details className="setting whole" open={dateOrder?.certainty === "guess" || undefined}>
      <summary>Dates and lists</summary>
      <div className="settings">
        <div className="setting">
          <label htmlFor={id}>Dates such as 03/04/2019</label>
          <select
            id={id}
            value={order}
            onChange={(event) =>
              onChange({ ...options, dateOrder: (event.target.value || null) as "DMY" | "MDY" | null })
            }
          >
            <option value="">{found}</option>
            <option value="DMY">the day comes first</option>
            <option value="MDY">the month comes first</option>
          </select>
          {dateOrder && <span className="quiet small">{dateOrder.why}</span>}
        </div>
        <TextSetting
          label="Time zone of times without one"
          value={options.timeZone ?? ""}
          placeholder="Europe/London"
          onChange={(value) => onChange({ ...options, timeZone: value ?? null })}
        />
        <TextSetting
          label="Sign between two custodians or tags"
          value={options.multiValueSeparator ?? ""}
          placeholder=";"
          maxLength={16}
          onChange={(value) => onChange({ ...options, multiValueSeparator: value ?? null })}
        />
        <TextSetting
          label="Sign between the levels of a tag"
          value={options.nestedSeparator ?? ""}
          placeholder="none"
          maxLength={16}
          onChange={(value) => onChange({ ...options, nestedSeparator: value ?? null })}
        />
      </div>
    </details>
  );
}
