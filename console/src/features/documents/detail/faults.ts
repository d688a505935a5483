// What the server refuses, beside what it is about.
import { ApiError } from "../../../api/client";
import { toWords } from "../../../ui/messages";
import type { Draft, ListName } from "./draft";
import { isProperty, nameOf, placeOf, placeOfProperty, type FieldName } from "./fields";

/** Names of properties are cut in locations. */
const MOST_CHARACTERS = 64;

/** Return the messages of a refused request by place, or by the name of a list; nothing for another problem. */
export function locateFaults(error: unknown, draft: Draft): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  if (!(error instanceof ApiError) || error.code !== "invalid-request") return found;
  const { errors, detail = "" } = error.problem;
  for (const each of errors ?? []) add(found, draft, each.location.replace(/^body\//, ""), each.message);
  if (!errors?.length) {
    const [, subject = "", message = ""] = /^([^:]*(?:\.[^]*)?): ([^]*)$/.exec(detail) ?? [];
    add(found, draft, subject.replace(".", "/"), message);
  }
  return found;
}

function add(found: Map<string, string>, draft: Draft, location: string, message: string): void {
  const [first = ""] = location.split("/", 1);
  const rest = location.slice(first.length + 1);
  const words = toWords(message.charAt(0).toUpperCase() + message.slice(1));
  if (first === "properties") {
    const places = [...draft.texts.keys()].filter(isProperty);
    const exact = places.find((place) => nameOf(place) === rest);
    const place = exact ?? places.find((each) => rest.length >= MOST_CHARACTERS && nameOf(each).startsWith(rest));
    found.set(place ?? (rest === "" ? "properties" : placeOfProperty(rest)), words);
  } else if (first === "custodians" || first === "tags") found.set(first, nameRefused(draft, first, rest) + words);
  else if (draft.texts.has(placeOf(first as FieldName))) found.set(placeOf(first as FieldName), words);
}

/** Return the beginning of a message about one name of a list. */
function nameRefused(draft: Draft, list: ListName, index: string): string {
  const name = index === "" ? undefined : draft[list].added[Number(index)];
  return name === undefined ? "" : `${name}: `;
}
