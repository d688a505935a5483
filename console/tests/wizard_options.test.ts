import { expect, test } from "vitest";
import { withFormat } from "../src/features/wizard/DatesAndLists";
import type { Schemas } from "../src/api/client";
import { chooseColumns, mapColumn, Saver, stamp, tidy, toProfile, toQuery } from "../src/features/wizard/options";

const column = (number: number, name: string, field: string | null = null, why = "property") =>
  ({ number, name, field, why, looksLike: null, samples: [], blank: 0, distinct: 1 }) as Schemas["PreviewColumn"];

test("options that say nothing are equal to no options", () => {
  const read = { encoding: null, header: true, columns: {}, mode: null, addPrefix: "" };
  expect(tidy(read)).toEqual({});
  expect(stamp(read, null)).toBe(stamp({}, null));
  expect(stamp({ header: false }, null)).not.toBe(stamp({}, null));
  expect(stamp({}, "vendor")).not.toBe(stamp({}, null));
  expect(stamp({ mode: "overlay", encoding: "utf-8" }, null)).toBe(stamp({ encoding: "utf-8", mode: "overlay" }, null));
});

test("a column is mapped by its number, and by its name where the number means another column", () => {
  const all = [column(1, "Id"), column(2, "Id"), column(3, "2"), column(4, "1")];
  expect(mapColumn({}, column(3, "Id"), "title", [column(3, "Id")]).columns).toEqual({ "3": "title" });
  expect(mapColumn({ columns: { Id: "tags" } }, all[0]!, "title", all).columns).toEqual({ Id: "title" });
  expect(mapColumn({ columns: { "3": "tags" } }, all[2]!, undefined, all)).toEqual({});
});

test("a preview gets the options as text, and objects as JSON", () => {
  const options = {
    delimiter: "|",
    headerLine: 3,
    header: false,
    columns: { "2": "title" as const },
    dateOrder: "DMY" as const,
  };
  expect(toQuery(options, "Vendor B")).toEqual({
    delimiter: "|",
    headerLine: "3",
    header: "false",
    columns: '{"2":"title"}',
    dateOrder: "DMY",
    profile: "Vendor B",
  });
  expect(toQuery({ mode: "overlay", blanks: "clear" }, null)).toEqual({});
});

test("a profile has decided columns by name, and by number where the name comes twice or is blank", () => {
  const columns = [
    column(1, "Doc", "control_number", "synonym"),
    column(2, "Note", "title", "given"),
    column(3, "Note", "tags", "given"),
    column(4, " ", null, "given"),
    column(5, "Other"),
    column(6, "Beg Attach", "family_begin", "synonym"),
  ];
  const made = toProfile({ delimiter: ";", columns: { "9": "title" } }, columns);
  expect(made).toEqual({
    delimiter: ";",
    columns: { Doc: "control_number", "2": "title", "3": "tags", "4": "property" },
  });
});

test("columns are found by name and field, and of a huge file the unmapped ones come first", () => {
  const columns = [column(1, "Doc ID", "control_number"), column(2, "Date Sent"), column(3, "Sent to")];
  expect(chooseColumns(columns, "SENT", 3).map((each) => each.number)).toEqual([2, 3]);
  expect(chooseColumns(columns, "control num", 3).map((each) => each.number)).toEqual([1]);
  expect(chooseColumns(columns, "", 2_000).map((each) => each.number)).toEqual([1, 2, 3]);
  expect(chooseColumns(columns, "", 2_001).map((each) => each.number)).toEqual([2, 3, 1]);
});

test("options are stored one after the other, each with the version before it, and the last one wins", async () => {
  const sent: [string | undefined, number][] = [];
  const release: (() => void)[] = [];
  const saver = new Saver(4, async (options, _profile, version) => {
    sent.push([options.delimiter ?? undefined, version]);
    await new Promise<void>((resolve) => release.push(resolve));
    return version + 1;
  });
  const first = saver.save({ delimiter: "a" }, null);
  void saver.save({ delimiter: "b" }, null);
  const last = saver.save({ delimiter: "c" }, null);
  release.shift()!();
  await new Promise((resolve) => setTimeout(resolve));
  expect(sent).toEqual([
    ["a", 4],
    ["c", 5],
  ]);
  release.shift()!();
  await Promise.all([first, last]);
  expect(await saver.settle()).toBe(6);
});

test("after a fault the next options are sent with the version that is known", async () => {
  let fails = true;
  const saver = new Saver(1, async (_options, _profile, version) => {
    if (fails) throw new Error("refused");
    return version + 1;
  });
  await expect(saver.save({}, null)).rejects.toThrow("refused");
  fails = false;
  await saver.save({}, null);
  expect(await saver.settle()).toBe(2);
});

test("the format of a date is one of the options, and none when it is emptied", () => {
  const one = withFormat(null, "date_sent", "%d.%m.%Y");
  expect(withFormat(one, "date_received", "excel")).toEqual({ date_sent: "%d.%m.%Y", date_received: "excel" });
  expect(withFormat(one, "date_sent", undefined)).toBeNull();
});
