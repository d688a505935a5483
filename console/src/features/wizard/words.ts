// The words of the wizard, and the sentences that say numbers. No React in it.
import type { Schemas } from "../../api/client";
import type { Thing } from "../../upload";
import { count, formatBytes } from "../../ui/values";

export type FieldName = Schemas["FieldName"];

/** The fields of a column, by subject, as the menu shows them. */
export const FIELDS: [string, [FieldName, string][]][] = [
  [
    "Numbers",
    [
      ["control_number", "Control number"],
      ["bates_begin", "Bates begin"],
      ["bates_end", "Bates end"],
    ],
  ],
  [
    "Family",
    [
      ["parent_control_number", "Parent control number"],
      ["family_range", "Family range"],
      ["family_group", "Family group"],
      ["family_members", "Family members"],
    ],
  ],
  [
    "Document",
    [
      ["title", "Title"],
      ["file_name", "File name"],
      ["confidentiality", "Confidentiality"],
      ["custodians", "Custodians"],
      ["tags", "Tags"],
      ["extracted_text", "Extracted text"],
    ],
  ],
  [
    "Dates",
    [
      ["document_date", "Document date"],
      ["date_sent", "Date sent"],
      ["date_received", "Date received"],
      ["date_created", "Date created"],
      ["date_modified", "Date modified"],
      ["document_time", "Document time"],
      ["time_sent", "Time sent"],
      ["time_received", "Time received"],
      ["time_created", "Time created"],
      ["time_modified", "Time modified"],
    ],
  ],
  [
    "Files",
    [
      ["native_path", "Native path"],
      ["text_path", "Text path"],
    ],
  ],
];

const LABELS = new Map<string, string>(FIELDS.flatMap(([, fields]) => fields));

/** Return the name of a field, such as `Date sent`; also of one that only a column name can choose. */
export const nameField = (field: string): string =>
  LABELS.get(field) ?? field[0]!.toUpperCase() + field.slice(1).replaceAll("_", " ");

const KNOWN = new Set(["property", ...FIELDS.flatMap(([, fields]) => fields.map(([field]) => field as string))]);

/** Whether an option can name the field; some are only found by the name of their column, such as family_begin. */
export const isField = (field: string): field is FieldName => KNOWN.has(field);

const WHY: Record<Schemas["MappingReason"], string> = {
  given: "your choice",
  profile: "the profile says so",
  synonym: "by its name",
  pattern: "by the words of its name",
  content: "by its values",
  property: "kept under its name",
};

const LOOKS_LIKE: Record<Schemas["ColumnKind"], string> = {
  date: "looks like a date",
  person: "looks like people",
  id: "looks like an id",
  path: "looks like a path",
};

export const CERTAINTY: Record<Schemas["Certainty"], string> = {
  given: "Your choice",
  certain: "Stated by the file",
  likely: "Suggested by the file",
  guess: "A guess",
};

/** Whether a column is probably of use and is kept as a property all the same, without the user's word for it. */
export function isMarked(column: Schemas["PreviewColumn"]): boolean {
  return column.field === null && column.looksLike !== null && column.why !== "given" && column.why !== "profile";
}

export function explainColumn(column: Schemas["PreviewColumn"]): string {
  return isMarked(column) ? `${LOOKS_LIKE[column.looksLike!]}, not mapped` : WHY[column.why];
}

/** Return `a`, `a and b` or `a, b and c`. */
export function join(parts: string[]): string {
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

/** Return the head of the columns, such as `19 columns: 14 mapped, 5 kept as properties, 1 to look at`. */
export function summarizeColumns(columns: Schemas["PreviewColumn"][], all: number): string {
  const mapped = columns.filter((each) => each.field !== null).length;
  const marked = columns.filter(isMarked).length;
  const rest = columns.length - mapped;
  const parts = [
    `${mapped.toLocaleString("en-US")} mapped`,
    rest && `${rest.toLocaleString("en-US")} kept under ${rest === 1 ? "its name" : "their names"}`,
  ];
  const shown = columns.length < all ? ` (of the first ${columns.length.toLocaleString("en-US")})` : "";
  const look = marked
    ? `; ${marked.toLocaleString("en-US")} not mapped ${marked === 1 ? "looks" : "look"} like a field`
    : "";
  return `${count(all, "column")}: ${parts.filter(Boolean).join(", ")}${shown}${look}`;
}

/** Return what was chosen, such as `75 files, 3.1 MB, VOL001.dat and VOL001.opt found`. */
export function describeThing(thing: Thing): string {
  if (thing.kind !== "volume") return formatBytes(thing.bytes);
  const found = [...thing.loadFiles, ...thing.imageLoadFiles].map((path) => path.slice(path.lastIndexOf("/") + 1));
  const some = found.length > 4 ? [...found.slice(0, 3), `${found.length - 3} more load files`] : found;
  const load = some.length ? `${join(some)} found` : "no load file found";
  return `${count(thing.files.length, "file")}, ${formatBytes(thing.bytes)}, ${load}`;
}
