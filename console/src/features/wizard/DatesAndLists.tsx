import { useId } from "react";
import type { Schemas } from "../../api/client";
import type { Options } from "./kept";
import { toWords } from "../../ui/messages";
import { TextSetting } from "./TextSetting";
import { nameSign } from "../../ui/signs";
import { nameField } from "./words";

interface DatesAndListsProps {
  options: Options;
  dateOrder: Schemas["PreviewFinding"] | undefined;
  columns: Schemas["PreviewColumn"][];
  onChange: (options: Options) => void;
}

/** What is right for nearly every file, and decides much where it is not. */
export function DatesAndLists({ options, dateOrder, columns, onChange }: DatesAndListsProps) {
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
          {dateOrder && <span className="quiet small">{toWords(dateOrder.why)}</span>}
        </div>
        {listDates(columns, options).map((field) => (
          <TextSetting
            key={field}
            label={`How dates are written: ${nameField(String(field))}`}
            value={options.dateFormat?.[field] ?? ""}
            placeholder="%d.%m.%Y, or excel"
            maxLength={64}
            onChange={(value) => onChange({ ...options, dateFormat: withFormat(options.dateFormat, field, value) })}
          />
        ))}
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

type Formats = NonNullable<Options["dateFormat"]>;
type DateField = keyof Formats;

const DATES: readonly string[] = ["document_date", "date_sent", "date_received", "date_created", "date_modified"];

/** The dates that the file has, and those whose format was chosen. */
function listDates(columns: Schemas["PreviewColumn"][], { dateFormat }: Options): DateField[] {
  const there = new Set([...columns.map((each) => each.field ?? ""), ...Object.keys(dateFormat ?? {})]);
  return DATES.filter((field) => there.has(field)) as DateField[];
}

export function withFormat(
  formats: Options["dateFormat"],
  field: DateField,
  value: string | undefined,
): Formats | null {
  const { [field]: _before, ...others } = formats ?? ({} as Formats);
  const next = value ? { ...others, [field]: value } : others;
  return Object.keys(next).length ? (next as Formats) : null;
}
