import type { Facet } from "../facets";

const compare = new Intl.Collator(undefined, { sensitivity: "base" }).compare;

/**
 * Return the tags that were found, one with the typed name first, and whether the typed name is a new one. The database
 * decides which names are equal; what the page takes for new and it does not is that tag.
 */
export function orderTags(found: readonly Facet[], typed: string): { known: Facet[]; isNew: boolean } {
  const same = found.filter(({ name }) => compare(name, typed) === 0);
  return {
    known: [...same, ...found.filter((each) => !same.includes(each))],
    isNew: typed !== "" && same.length === 0,
  };
}
