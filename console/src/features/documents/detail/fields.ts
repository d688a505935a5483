// What a user can edit of a document: its fields and its properties, each as the text that a control holds.
import type { Schemas } from "../../../api/client";

export type Exhibit = Schemas["Exhibit"];
export type Patch = Schemas["ExhibitChange"];
export type FieldName = Exclude<keyof Patch, "properties">;

/** A field, or a property by its name in the load file. */
export type Place = `field:${FieldName}` | `property:${string}`;

interface Field {
  name: FieldName;
  label: string;
  kind: "text" | "number" | "date" | "path";
  /** The most characters that the API takes. */
  most: number;
}

const text = (name: FieldName, label: string): Field => ({ name, label, kind: "text", most: 1_024 });
const path = (name: FieldName, label: string): Field => ({ name, label, kind: "path", most: 1_024 });
const number = (name: FieldName, label: string): Field => ({ name, label, kind: "number", most: 255 });
const date = (name: FieldName, label: string): Field => ({ name, label, kind: "date", most: 26 });

export const FIELDS: readonly Field[] = [
  text("title", "Title"),
  text("fileName", "File name"),
  text("confidentiality", "Confidentiality"),
  date("documentDate", "Date"),
  date("dateSent", "Sent"),
  date("dateReceived", "Received"),
  date("dateCreated", "Created"),
  date("dateModified", "Modified"),
  number("batesBegin", "Bates, first"),
  number("batesEnd", "Bates, last"),
  number("parentControlNumber", "Attachment of"),
  path("nativePath", "Native"),
  path("textPath", "Text"),
];

const BY_NAME = new Map(FIELDS.map((field) => [field.name as string, field]));
/** Fields that mean something together: a change of one is a change of both. */
const RANGE: readonly Place[] = ["field:batesBegin", "field:batesEnd"];

export const placeOf = (name: FieldName): Place => `field:${name}`;
export const placeOfProperty = (name: string): Place => `property:${name}`;
export const isProperty = (place: Place): boolean => place.startsWith("property:");
export const nameOf = (place: Place): string => place.slice(place.indexOf(":") + 1);

/** Return the field of a place; undefined for a property. */
export const fieldOf = (place: Place): Field | undefined =>
  isProperty(place) ? undefined : BY_NAME.get(nameOf(place));

/** Return the places that a decision about this one is about. */
export const relatedTo = (place: Place): readonly Place[] => (RANGE.includes(place) ? RANGE : [place]);

/** Return the name that people read; that of a property is evidence and is shown as such. */
export const labelOf = (place: Place): string => fieldOf(place)?.label ?? nameOf(place);

/** Return what a document has at a place, as a control holds it; blank if it has nothing. */
export function readText(exhibit: Exhibit, place: Place): string {
  const name = nameOf(place);
  if (isProperty(place)) return Object.hasOwn(exhibit.properties, name) ? (exhibit.properties[name] ?? "") : "";
  const value = exhibit[name as FieldName] ?? "";
  return fieldOf(place)?.kind === "date" ? showDate(value, exhibit.datePrecision[toSnake(name)]) : value;
}

/** Return a date as people of this trade write it: a day, or a time to the second. */
export function showDate(value: string, precision: string | undefined): string {
  const [day = "", time = ""] = value.split(/[T ]/);
  const isMidnight = /^00:00:00(\.0*)?$/.test(time);
  if (time === "" || (isMidnight && precision !== "time" && precision !== "utc_time")) return day;
  const shown = time.replace(/\.0*$/, "").replace(/(\.\d*?)0+$/, "$1");
  return `${day} ${shown}${precision === "utc_time" ? " UTC" : ""}`;
}

const DATE = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(\.\d{1,6})?)?)?$/;

/** Return a day, or a time without a zone, in the form of the API; null if the text is neither. */
export function parseDate(text: string): string | null {
  const found = DATE.exec(text.trim());
  if (!found) return null;
  const [, year, month, day, hours = "00", minutes = "00", seconds = "00", fraction = ""] = found;
  const isDay = found[4] === undefined;
  const clock = `${hours}:${minutes}:${seconds}`;
  const at = new Date(`${year}-${month}-${day}T${clock}Z`);
  const isReal = !Number.isNaN(at.valueOf()) && at.toISOString().startsWith(`${year}-${month}-${day}T${clock}`);
  return isReal ? `${year}-${month}-${day}${isDay ? "" : `T${clock}${fraction}`}` : null;
}

/** Say what is wrong with an entered text; null if the API decides. */
export function findFault(place: Place, entered: string): string | null {
  const field = fieldOf(place);
  if (entered.trim() === "" || !field) return null;
  if (field.kind === "date" && parseDate(entered) === null)
    return "Write a date as 2019-12-31, or with its time as 2019-12-31 14:05.";
  if ([...entered].length > field.most)
    return `${[...entered].length.toLocaleString()} characters; ${field.most.toLocaleString()} fit. Shorten it.`;
  return null;
}

/** Return the value of a request: null removes what is there. */
export function toValue(place: Place, entered: string): string | null {
  if (entered.trim() === "") return null;
  const kind = fieldOf(place)?.kind;
  if (kind === "date") return parseDate(entered) ?? entered;
  return kind === "number" ? entered.trim() : entered;
}

export const toSnake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
export const toCamel = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
