import { describe, expect, test } from "vitest";
import { ALL, choose, isChosen, isEmpty, measure, NOTHING, toggle } from "../src/features/documents/selection";

const matching = { count: 4, isAtLeast: false };
const chosen = (selection: typeof ALL) => [1, 2, 3, 4].filter((id) => isChosen(selection, id));

describe("a selection of documents", () => {
  test.each([
    ["nothing", NOTHING],
    ["all that match", ALL],
  ])("of %s is what each id says, and as many as it says", (_, start) => {
    let selection = start;
    const expected = new Set(chosen(start));
    for (const [id, isWanted] of [
      [1, true],
      [2, false],
      [1, false],
      [3, true],
      [3, true],
      [4, false],
    ] as const) {
      selection = choose(selection, [id], isWanted);
      if (isWanted) expected.add(id);
      else expected.delete(id);
      expect(chosen(selection)).toEqual([...expected].sort());
      expect(measure(selection, matching)).toEqual({ count: expected.size, isAtLeast: false });
    }
    for (const id of [1, 2, 3, 4]) selection = toggle(selection, id);
    expect(chosen(selection)).toEqual([1, 2, 3, 4].filter((id) => !expected.has(id)));
  });

  test("of all has no size before it is known how many match, and is not empty", () => {
    expect(measure(ALL, null)).toBeNull();
    expect(isEmpty(ALL, null)).toBe(false);
    expect(isEmpty(choose(ALL, [1, 2, 3, 4], false), matching)).toBe(true);
    expect(measure(ALL, { count: 100_001, isAtLeast: true })).toEqual({ count: 100_001, isAtLeast: true });
  });
});
