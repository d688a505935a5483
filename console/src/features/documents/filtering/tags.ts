import { nameCharacter } from "../../../ui/Untrusted";

// The names of nested tags: `Hot\Really Hot` is `Really Hot` in `Hot`.
export const SEPARATOR = "\\";

/** Return the tags, by their full paths, that one of the names is nested in, in their order. */
export function listParents(names: readonly string[]): string[] {
  const parents = new Set<string>();
  for (const name of names) {
    const levels = name.split(SEPARATOR);
    for (let depth = 1; depth < levels.length; depth++) {
      const parent = levels.slice(0, depth).join(SEPARATOR);
      if (parent) parents.add(parent);
    }
  }
  return [...parents].sort();
}

/** Return the name as it is stored: without spaces at its ends. */
export const cleanName = (typed: string): string => typed.trim();

// What the server takes for not printable, or for a space of another kind.
const UNSEEN = /\p{C}|\p{Zl}|\p{Zp}|(?! )\p{Zs}/u;

/** Why a tag cannot have this name, or null. */
export function refuseName(name: string): string | null {
  if ([...name].length > 500) return "A tag has at most 500 characters.";
  const unseen = UNSEEN.exec(name);
  if (unseen) return `A tag has only characters that can be seen: remove ${nameCharacter(unseen[0])}.`;
  if (name.split(SEPARATOR).some((level) => level.trim() === ""))
    return "Between two \\ there has to be a name, and none is at an end: Hot\\Really Hot.";
  return null;
}
