// What a document of the case has for a column of the file, as far as the API returns it.
import type { Schemas } from "../../api/client";
import type { Column } from "./rows";

type Exhibit = Schemas["Exhibit"];

const FIELDS: Record<string, keyof Exhibit> = {
  control_number: "controlNumber",
  bates_begin: "batesBegin",
  bates_end: "batesEnd",
  parent_control_number: "parentControlNumber",
  title: "title",
  file_name: "fileName",
  native_path: "nativePath",
  text_path: "textPath",
  confidentiality: "confidentiality",
};

/** Return the stored text of a column, which may be blank; null if the API does not return it in the file's form. */
export function readStored(exhibit: Exhibit, column: Column): string | null {
  // Text that a field cannot hold as written, such as that of a date, is a property, too.
  const written = Object.hasOwn(exhibit.properties, column.name) ? exhibit.properties[column.name] : null;
  if (written != null) return written;
  if (column.field === null) return "";
  if (column.field === "custodians") return exhibit.custodians.join("; ");
  if (column.field === "tags") return exhibit.tags.join("; ");
  const name = FIELDS[column.field];
  return name ? String(exhibit[name] ?? "") : null;
}

/** Whether a cell and the stored text differ in more than the spaces around them and, of a list, the order. */
export function hasOtherValue(here: string, there: string | null, { field }: Column): boolean {
  if (there === null) return false;
  const isList = field === "custodians" || field === "tags";
  return isList ? sortList(here) !== sortList(there) : here.trim() !== there.trim();
}

const sortList = (text: string): string =>
  text
    .split(";")
    .map((each) => each.trim())
    .filter(Boolean)
    .sort()
    .join(";");
