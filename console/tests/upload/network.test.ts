import { expect, test } from "vitest";
import { fileSource, uploadFolder, uploadSource, type FolderTarget, type PickedFile } from "../../src/upload";
import { makeFile, until, World } from "./world";

const files: PickedFile[] = Array.from({ length: 20 }, (_, at) => {
  const path = `V/${String(at).padStart(2, "0")}`;
  return { path, size: 1, file: makeFile(path, "x") };
});

const sign = (path: string) => ({
  url: `https://bucket/${path}`,
  headers: {},
  parts: null,
  completeUrl: null,
  expiresInSeconds: 3600,
});

const volume: FolderTarget = {
  declare: async (declared) => ({
    items: declared.map(({ path, size }) => ({ path, size, stored: false, upload: sign(path) })),
    remaining: 0,
  }),
  getState: async () => Promise.reject(new Error("not expected")),
};

test("a lost connection stops the upload; one request tries it, and all go on when it is back", async () => {
  const world = new World();
  let isLost = true;
  world.reply = () => (isLost ? "lost" : undefined);
  const transfer = uploadFolder(files, volume, world);
  transfer.start();
  await until(transfer, (each) => each.status === "offline" && world.open === 0);
  const before = world.sent.length;
  expect(before).toBeLessThanOrEqual(6);
  for (const [probes, delay] of [1000, 3000, 10_000, 30_000, 30_000].entries()) {
    expect(world.waits).toEqual([delay]);
    world.pass(delay);
    await until(
      transfer,
      (each) =>
        each.status === "offline" &&
        world.sent.length === before + probes + 1 &&
        !world.open &&
        world.waits.length === 1,
    );
  }
  isLost = false;
  world.pass(30_000);
  const end = await until(transfer, "done");
  expect(end).toMatchObject({ failures: [], files: { done: 20 } });
  expect(end.retries).toBeGreaterThanOrEqual(6);
  expect(new Set(world.sent.map(({ url }) => url)).size).toBe(20);
});

test("while the browser knows of no connection nothing is tried, and its return continues at once", async () => {
  const world = new World();
  world.online = false;
  world.reply = () => (world.online ? undefined : "lost");
  const transfer = uploadFolder(files, volume, world);
  transfer.start();
  await until(transfer, (each) => each.status === "offline" && world.open === 0);
  const before = world.sent.length;
  world.pass(600_000);
  expect(world.sent.length).toBe(before);
  world.setOnline();
  expect((await until(transfer, "done")).files.done).toBe(20);
});

test("requests that hang when the connection is lost are sent again", async () => {
  const world = new World();
  let faults = 6;
  world.reply = () => (faults-- > 0 ? (faults === 0 ? "lost" : "never") : undefined);
  const transfer = uploadFolder(files, volume, world);
  transfer.start();
  await until(transfer, "offline");
  world.pass(1000);
  expect((await until(transfer, "done")).files.done).toBe(20);
});

test("a pause stops what moves, nothing begins, and it goes on where it was", async () => {
  const world = new World();
  world.reply = ({ url }) =>
    Number(url.slice(-2)) >= 8 && transfer.getSnapshot().files.done <= 8 ? "never" : undefined;
  const transfer = uploadFolder(files, volume, world);
  transfer.start();
  await until(transfer, (each) => each.files.done === 8 && world.open === 6);
  transfer.pause();
  expect(transfer.getSnapshot().status).toBe("paused");
  await until(transfer, () => world.open === 0);
  const before = world.sent.length;
  world.pass(600_000);
  expect(world.sent.length).toBe(before);
  expect(world.guarded.at(-1)).toBe(true);
  world.reply = () => undefined;
  transfer.resume();
  const end = await until(transfer, "done");
  expect(end).toMatchObject({ files: { done: 20 }, bytes: { done: 20 }, retries: 0 });
  expect(world.sent.length).toBe(20 + 6);
  expect(world.guarded.at(-1)).toBe(false);
});

test("a cancelled upload sends nothing more, and does not keep the page", async () => {
  const world = new World();
  world.reply = () => "never";
  const transfer = uploadFolder(files, volume, world);
  transfer.start();
  await until(transfer, () => world.open === 6);
  transfer.cancel();
  await until(transfer, () => world.open === 0);
  world.pass(600_000);
  transfer.resume();
  transfer.retry();
  expect(transfer.getSnapshot().status).toBe("cancelled");
  expect(world.sent.length).toBe(6);
  expect(world.guarded.at(-1)).toBe(false);
});

test("the time that is left comes from what was sent in the last seconds, and a snapshot changes only with the upload", async () => {
  const world = new World();
  const source = { ...fileSource(makeFile("a.dat", "x")), size: 1000 };
  let onSent = (_: number) => undefined as void;
  world.send = (_method, _url, _body, _headers, tell) => {
    onSent = tell;
    return new Promise(() => undefined);
  };
  const transfer = uploadSource(source, { urls: sign("a.dat"), getState: () => Promise.reject(new Error()) }, world);
  transfer.start();
  await until(transfer, (each) => each.status === "moving");
  await new Promise((resolve) => setTimeout(resolve));
  for (let second = 0; second < 4; second++) {
    onSent(second * 100);
    world.pass(1000);
  }
  expect(transfer.getSnapshot()).toMatchObject({ bytes: { done: 300, all: 1000 }, secondsLeft: 8 });
  expect(transfer.getSnapshot()).toBe(transfer.getSnapshot());
});
