// What a draft shows and does while another window, or the user elsewhere, changes it.
import { expect, test } from "vitest";
import type { Schemas } from "../src/api/client";
import { isDone } from "../src/features/wizard/Footer";
import { takesFiles } from "../src/features/wizard/FilesPanel";
import { chooseOptions, Saver, stamp } from "../src/features/wizard/options";
import { chooseImports, type Draft } from "../src/features/wizard/queries";
import { listHeld } from "../src/features/wizard/states";

const own = { options: { delimiter: "pipe" }, profile: null, saved: stamp({ delimiter: "pipe" }, null) };
const stored = (optionsVersion: number) => ({ options: { mode: "overlay" as const }, profile: null, optionsVersion });

test("options that another window has stored since are shown, because they are run", () => {
  expect(chooseOptions({ ...own, savedVersion: 2 }, stored(2)).options).toEqual(own.options);
  expect(chooseOptions({ ...own, savedVersion: 2 }, stored(3))).toMatchObject({
    options: { mode: "overlay" },
    isOwn: false,
  });
  const changed = { ...own, saved: null, savedVersion: 2 };
  expect(chooseOptions(changed, stored(3))).toMatchObject({ options: own.options, isChanged: true });
});

test("what is based on options that were read is stored over them", async () => {
  const seen: number[] = [];
  const saver = new Saver(1, async (_options, _profile, version) => (seen.push(version), version + 1));
  saver.see(3);
  const saving = saver.save({}, null);
  saver.see(9);
  await saving;
  expect([seen, await saver.settle()]).toEqual([[3], 4]);
});

const imports = (...each: [number, string, string?][]) =>
  each.map(([id, status, wanted = "hold"]) => ({ id, status, wanted })) as Parameters<typeof listHeld>[0];

test("another choice of load files cancels what is held, and nothing that another window has run", () => {
  expect(listHeld(imports([1, "undone"], [2, "completed_with_rejections"], [3, "checked"], [4, "uploaded"]))).toEqual([
    4,
  ]);
  expect(() => listHeld(imports([4, "uploaded"], [5, "running", "import"]))).toThrow("Import 5");
  expect(() => listHeld(imports([5, "splitting", "import"]))).toThrow("Import 5");
});

test("images whose check was stopped belong to the draft, and those that are only held keep it from being run", () => {
  const each = (id: number, kind: string, status: string) => ({ id, kind, status });
  const choose = (...found: object[]) => chooseImports({ imports: found } as unknown as Schemas["VolumeDetails"]);
  expect(choose(each(3, "images", "cancelled"), each(2, "rows", "checked"))).toEqual({ rows: 2, images: [3] });
  expect(choose(each(3, "images", "blocked"), each(2, "rows", "cancelled"))).toEqual({ rows: 2, images: [3] });
  const done = (imageCount: number, ...statuses: string[]) =>
    isDone({
      rows: { status: "checked" },
      images: statuses.map((status) => ({ status })),
      imageCount,
    } as unknown as Draft);
  expect([done(1, "checked"), done(1, "cancelled"), done(1), done(1, "uploaded"), done(1, "waiting")]).toEqual([
    ...[true, true, false, false, false],
  ]);
});

test("files are chosen again after an upload that has failed", () => {
  const draft = { rows: { status: "awaiting_upload" }, volume: null } as unknown as Draft;
  const takes = (["failed", "moving", "done", undefined] as const).map((status) => takesFiles(draft, status));
  expect(takes).toEqual([true, false, false, true]);
});
