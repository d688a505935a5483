// Who has changed what of a document since a version of it, as its history says.
import type { Schemas } from "../../../api/client";
import { placeOfProperty, toCamel, type Place } from "./fields";

export type Entry = Schemas["ExhibitHistoryEntry"];

/** The last change of each place since the user began. */
export type Writers = ReadonlyMap<Place, Entry>;

/** Return the newest entry that changed each place, of entries that begin with the newest, after a version. */
export function findWriters(entries: readonly Entry[], since: number): Writers {
  const found = new Map<Place, Entry>();
  for (const entry of entries)
    if (entry.version > since) for (const place of listPlaces(entry)) if (!found.has(place)) found.set(place, entry);
  return found;
}

/** Return the fields and properties that an entry has changed. */
function listPlaces({ fields, properties }: Entry): Place[] {
  const places: Place[] = [];
  for (const [name, { old, new: now }] of Object.entries(fields))
    if (old !== now) places.push(`field:${toCamel(name.replace(/_precision$/, ""))}` as Place);
  for (const [name, { old, new: now }] of Object.entries(properties))
    if (old !== now) places.push(placeOfProperty(name));
  return places;
}

/** Return who made a change, as far as it is known. */
export const nameWriter = ({ userName, userId }: Pick<Entry, "userName" | "userId">): string | null =>
  userName ?? userId;
