// What a user has changed of a document and not saved, against the version that the user saw, and how it meets what
// others have saved since.
import {
  findFault,
  isProperty,
  nameOf,
  readText,
  relatedTo,
  toValue,
  type Exhibit,
  type Patch,
  type Place,
} from "./fields";

export type ListName = "custodians" | "tags";

/** Names that a document is to get and to lose. */
export interface Names {
  added: readonly string[];
  removed: readonly string[];
}

export interface Draft {
  /** The document as the user saw it. */
  base: Exhibit;
  /** Texts that differ from it, by place. */
  texts: ReadonlyMap<Place, string>;
  custodians: Names;
  tags: Names;
}

/** A place that the user and another one have changed, in different ways. */
export interface Conflict {
  place: Place;
  before: string;
  mine: string;
  theirs: string;
}

export type Choices = ReadonlyMap<Place, "mine" | "theirs">;

const NONE: Names = { added: [], removed: [] };

export const openDraft = (base: Exhibit): Draft => ({ base, texts: new Map(), custodians: NONE, tags: NONE });

/** Set the text of a place; the text that is there already is no change. */
export function setText(draft: Draft, place: Place, entered: string): Draft {
  const texts = new Map(draft.texts);
  if (entered === readText(draft.base, place)) texts.delete(place);
  else texts.set(place, entered);
  return { ...draft, texts };
}

/** Return what a control shows. */
export const textAt = ({ base, texts }: Draft, place: Place): string => texts.get(place) ?? readText(base, place);

/** Add a name, or keep one that was to be removed. The database does not tell names apart by their case. */
export function addName(draft: Draft, list: ListName, name: string): Draft {
  const { added, removed } = draft[list];
  const entered = name.trim();
  const back = removed.find((each) => isSame(each, entered));
  if (back !== undefined) return { ...draft, [list]: { added, removed: removed.filter((each) => each !== back) } };
  if (entered === "" || [...draft.base[list], ...added].some((each) => isSame(each, entered))) return draft;
  return { ...draft, [list]: { added: [...added, entered], removed } };
}

/** Remove a name, or take one back that was to be added. */
export function removeName(draft: Draft, list: ListName, name: string): Draft {
  const { added, removed } = draft[list];
  if (added.includes(name)) return { ...draft, [list]: { added: added.filter((each) => each !== name), removed } };
  if (removed.includes(name) || !draft.base[list].includes(name)) return draft;
  return { ...draft, [list]: { added, removed: [...removed, name] } };
}

const isSame = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

export const countChanges = ({ texts, custodians, tags }: Draft): number =>
  texts.size + [custodians, tags].reduce((sum, { added, removed }) => sum + added.length + removed.length, 0);

/** Return the faults that are seen here, by place. */
export function findFaults({ texts }: Draft): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [place, entered] of texts) {
    const fault = findFault(place, entered);
    if (fault) found.set(place, fault);
  }
  return found;
}

/** Return the refusals that a change of the draft does not answer: what was changed may be right now. */
export function keepRefusals(refused: ReadonlyMap<string, string>, before: Draft, after: Draft) {
  const isAnswered = (place: string) =>
    place === "custodians" || place === "tags"
      ? before[place] !== after[place]
      : place === "properties"
        ? before.texts !== after.texts
        : before.texts.get(place as Place) !== after.texts.get(place as Place);
  return new Map([...refused].filter(([place]) => !isAnswered(place)));
}

/** Return the merge patch (RFC 7396) of the fields and properties; null without a change of them. */
export function buildPatch({ texts }: Draft): Patch | null {
  if (texts.size === 0) return null;
  // Without a prototype, so that a property named __proto__ is one.
  const fields: Record<string, string | null> = Object.create(null);
  const properties: Record<string, string | null> = Object.create(null);
  for (const [place, entered] of texts)
    (isProperty(place) ? properties : fields)[nameOf(place)] = toValue(place, entered);
  return (Object.keys(properties).length ? { ...fields, properties } : { ...fields }) as Patch;
}

/** Return the places that differ between two versions of a document. */
export function listChanged(before: Exhibit, after: Exhibit, places: Iterable<Place>): Place[] {
  return [...places].filter((place) => readText(before, place) !== readText(after, place));
}

/**
 * Return what the user has to decide: where both have changed the same, or one of two fields that mean something
 * together, and not into the same. Names of lists never conflict: each is added and removed by itself.
 */
export function findConflicts({ base, texts }: Draft, theirs: Exhibit): Conflict[] {
  const conflicts: Conflict[] = [];
  for (const [place, mine] of texts) {
    const [before, now] = [readText(base, place), readText(theirs, place)];
    const isTouched = listChanged(base, theirs, relatedTo(place)).length > 0;
    if (isTouched && isOther(place, mine, now)) conflicts.push({ place, before, mine, theirs: now });
  }
  return conflicts;
}

const isOther = (place: Place, mine: string, theirs: string) => toValue(place, mine) !== toValue(place, theirs);

/** Whether each conflict is decided. */
export const isDecided = (conflicts: readonly Conflict[], choices: Choices): boolean =>
  conflicts.every(({ place }) => choices.has(place));

/** Return the draft against a newer version. Each conflict has to be decided; what is there already is no change. */
export function rebase(draft: Draft, theirs: Exhibit, choices: Choices): Draft {
  const texts = new Map<Place, string>();
  for (const [place, mine] of draft.texts)
    if (choices.get(place) !== "theirs" && isOther(place, mine, readText(theirs, place))) texts.set(place, mine);
  const lists = {
    custodians: rebaseNames(draft.custodians, theirs.custodians),
    tags: rebaseNames(draft.tags, theirs.tags),
  };
  return { base: theirs, texts, ...lists };
}

const rebaseNames = ({ added, removed }: Names, theirs: readonly string[]): Names => ({
  added: added.filter((name) => !theirs.some((each) => isSame(each, name))),
  removed: removed.filter((name) => theirs.includes(name)),
});
