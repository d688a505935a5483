// What an entry of a history has changed, line by line.
import { FIELDS, showDate, toSnake } from "./fields";
import type { Entry } from "./writers";

export interface Line {
  /** A field by its label, a property by its name, a name that was linked or not; `inside`: a value that people cannot read. */
  kind: "field" | "property" | "link" | "inside";
  name: string;
  old: string | null;
  now: string | null;
}

const PRECISIONS: Record<string, string> = { D: "day", T: "time", U: "utc_time" };
const INSIDE: Record<string, string> = { page_set_id: "Page images", text_id: "Text of the load file’s cells" };
/** What follows from a date that is listed itself. */
const FOLLOWS = /^(document_date_source|row_hash|.*_precision)$/;

/** Return what has changed; a value that was set to what it was is left out. */
export function listLines(entry: Entry): Line[] {
  const lines = [...listFields(entry)];
  for (const [name, { old, new: now }] of Object.entries(entry.properties))
    lines.push({ kind: "property", name, old: old ?? null, now: now ?? null });
  for (const [list, names] of [
    ["Custodian", entry.custodians],
    ["Tag", entry.tags],
  ] as const)
    for (const [name, { old, new: now }] of Object.entries(names))
      lines.push({ kind: "link", name: list, old: old ? name : null, now: now ? name : null });
  return lines.filter(({ old, now }) => old !== now);
}

function* listFields({ fields }: Entry): Generator<Line> {
  for (const { name, label, kind } of FIELDS) {
    const stored = toSnake(name);
    const [values, precisions] = [fields[stored], fields[`${stored}_precision`]];
    if (!values && !precisions) continue;
    const show = (which: "old" | "new") => {
      const value = values?.[which] ?? null;
      return kind === "date" && value !== null ? showDate(value, PRECISIONS[precisions?.[which] ?? ""]) : value;
    };
    yield { kind: "field", name: label, old: show("old"), now: show("new") };
  }
  for (const [name, values] of Object.entries(fields)) {
    const isKnown = FIELDS.some((each) => toSnake(each.name) === name);
    if (isKnown || FOLLOWS.test(name)) continue;
    const [old, now] = [values.old ?? null, values.new ?? null];
    yield { kind: name in INSIDE ? "inside" : "field", name: INSIDE[name] ?? name.replaceAll("_", " "), old, now };
  }
}
