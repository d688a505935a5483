import { describe, expect, test } from "vitest";
import { MOST_PX, Scroller } from "../src/ui/virtual";

const VIEW = 600;

function open(count: number): Scroller {
  const scroller = new Scroller(28);
  scroller.resize(count, VIEW);
  return scroller;
}

describe.each([10, 1_000, 600_000, 2_000_000])("a list of %i rows", (count) => {
  const end = Math.max(count * 28 - VIEW, 0);

  test("is no higher than browsers allow, and the scrollbar reaches both ends", () => {
    const scroller = open(count);
    expect(scroller.height).toBe(Math.min(count * 28, MOST_PX));
    scroller.scroll(scroller.height - VIEW);
    expect(scroller.offset).toBe(end);
    expect(scroller.rows[1]).toBe(count - 1);
    scroller.scroll(0);
    expect(scroller.rows[0]).toBe(0);
  });

  test("shows every row that it has to reveal, within the element", () => {
    const scroller = open(count);
    for (let share = 0; share <= 1; share += 0.013) {
      const row = Math.round(share * (count - 1));
      scroller.reveal(row);
      const top = scroller.top(row) - scroller.scrollTop;
      expect(top).toBeGreaterThanOrEqual(0);
      expect(top + 28).toBeLessThanOrEqual(Math.max(VIEW, 28));
      expect(scroller.scrollTop).toBeLessThanOrEqual(Math.max(scroller.height - VIEW, 0));
    }
  });

  test("moves by as much as a wheel does, and meets its end there", () => {
    const scroller = open(count);
    scroller.moveTo(end - 40_000);
    for (let step = 0; step < 2_000 && scroller.offset < end; step++) {
      const before = scroller.offset;
      scroller.scroll(Math.min(scroller.scrollTop + 100, scroller.height - VIEW));
      expect(scroller.offset - before).toBeLessThanOrEqual(101);
      expect(scroller.offset).toBeGreaterThan(before);
      if (step % 10 === 9) scroller.settle();
    }
    expect(scroller.offset).toBe(end);
  });
});

test("rows that come in before those in view move the scrollbar, and not what is seen", () => {
  const scroller = open(2_000_000);
  scroller.moveTo(28 * 1_000_000 + 5);
  scroller.resize(2_000_300, VIEW, 300 * 28);
  expect(scroller.rows[0]).toBe(1_000_300);
  expect(scroller.top(1_000_300) - scroller.scrollTop).toBe(-5);
});
