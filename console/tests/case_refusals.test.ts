import { expect, test } from "vitest";
import { explainRefusal, type Case } from "../src/api/cases";
import type { Schemas } from "../src/api/client";
import { decideAccess } from "../src/features/fix/access";
import { listOffers } from "../src/features/imports/offers";

type Stated = Pick<Case, "status" | "hold">;

const hold = { reason: "Order", heldBy: "ada", heldAt: "2026-11-27T09:00:00Z" };
const open: Stated = { status: "open", hold: null };
const held: Stated = { status: "open", hold };
const closed: Stated = { status: "closed", hold: null };
const purging: Stated = { status: "purging", hold: null };

test.each([
  [open, [false, false, false]],
  [held, [false, true, false]],
  [closed, [true, true, false]],
  [{ status: "closed", hold } as Stated, [true, true, false]],
  [purging, [true, true, true]],
  [{ status: "purged", hold: null } as Stated, [true, true, true]],
])("a case of %o refuses what the server refuses: changes, removals, ends", (of, refused) => {
  expect((["change", "remove", "end"] as const).map((entry) => explainRefusal(of, entry) !== null)).toEqual(refused);
});

const state = (changes: Partial<Schemas["ImportState"]>) =>
  ({
    status: "completed_with_rejections",
    phase: "import",
    rowsSeen: 8,
    openRejections: 2,
    actions: ["retry"],
    corrects: null,
    ...changes,
  }) as Schemas["ImportState"];

test("an import offers what neither its own state nor that of its case refuses, and the reason for the rest", () => {
  const all = { hasNext: true, changes: ["retry"], canUndo: true, refusal: null };
  expect(listOffers(state({}), open)).toEqual(all);
  expect(listOffers(state({}), undefined)).toEqual(all);
  expect(listOffers(state({}), held)).toEqual({ ...all, canUndo: false, refusal: explainRefusal(held, "remove") });
  expect(listOffers(state({}), closed)).toEqual({
    ...{ hasNext: false, changes: [], canUndo: false },
    refusal: explainRefusal(closed, "change"),
  });
});

test("an import that runs in a closed case can be cancelled, and in one that is purged it cannot", () => {
  const running = state({ status: "running", openRejections: 0, actions: ["cancel"] });
  expect(listOffers(running, closed)).toMatchObject({ changes: ["cancel"], refusal: null });
  expect(listOffers(running, purging)).toMatchObject({ changes: [], refusal: explainRefusal(purging, "end") });
});

test("an import without a next step says nothing about its case", () => {
  const done = state({ status: "undone", openRejections: 0, actions: [] });
  expect(listOffers(done, closed)).toEqual({ hasNext: false, changes: [], canUndo: false, refusal: null });
});

test("rows of a closed case are read, and the sentence says what lifts that", () => {
  const given = state({ kind: "rows" }) as Parameters<typeof decideAccess>[0];
  const refusal = explainRefusal(closed, "change");
  expect(decideAccess(given, "editor", false, refusal)).toEqual({ canEdit: false, canLoad: false, sentence: refusal });
  expect(decideAccess(given, "editor", false, null).canEdit).toBe(true);
});
