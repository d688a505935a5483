// What differs between two texts, so that a change in the middle of 4,000 characters is seen.
import { findCommon, tokenize } from "../../../ui/lineEnds";

export interface Difference {
  /** What both begin and end with; a long one is shortened to what is beside the change. */
  before: string;
  removed: string;
  added: string;
  after: string;
}

const CONTEXT = 40;

/** Return the part that differs. A character of two code units, and a line end of two, is never divided. */
export function findDifference(old: string, now: string): Difference {
  const [from, to] = [tokenize(old), tokenize(now)];
  const { start, end } = findCommon(from, to);
  const [head, tail] = [from.slice(0, start), from.slice(from.length - end)];
  return {
    before: head.length > CONTEXT ? `…${head.slice(-CONTEXT).join("")}` : head.join(""),
    removed: from.slice(start, from.length - end).join(""),
    added: to.slice(start, to.length - end).join(""),
    after: tail.length > CONTEXT ? `${tail.slice(0, CONTEXT).join("")}…` : tail.join(""),
  };
}
