import { expect, test } from "vitest";
import { ApiError } from "../../src/api/client";
import {
  uploadFolder,
  type FolderTarget,
  type NewVolumeFile,
  type PickedFile,
  type UploadState,
} from "../../src/upload";
import { fail, makeFile, until, World } from "./world";

const pick = (count: number): PickedFile[] =>
  Array.from({ length: count }, (_, at) => {
    const [path, text] = [`VOL001/TEXT/${String(at).padStart(4, "0")}.txt`, `text ${at}`];
    return { path, size: text.length, file: makeFile(path, text) };
  });

const NO_CHECKSUM = { checksumAlgorithm: null, checksum: null };
const digest = async (text: string) =>
  btoa(String.fromCharCode(...new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)))));

/** A volume that has some of the files already. */
class Volume implements FolderTarget {
  declared: { files: NewVolumeFile[]; key: string }[] = [];
  asked: string[] = [];
  faults: unknown[] = [];
  atMost = 1000;

  constructor(private readonly stored: Set<string> = new Set()) {}

  async declare(files: NewVolumeFile[], key: string) {
    this.declared.push({ files, key });
    const fault = this.faults.shift();
    if (fault) throw fault;
    const items = files.slice(0, this.atMost).map(({ path, size }) => {
      const stored = this.stored.has(path);
      return { path, size, stored, upload: stored ? null : this.sign(path, "") };
    });
    return { items, remaining: files.length - items.length };
  }

  /** The checksums of files that the bucket has, although they were not declared as stored. */
  readonly checksums = new Map<string, string>();

  async getState(path: string): Promise<UploadState> {
    this.asked.push(path);
    const checksum = this.checksums.get(path);
    if (checksum === undefined)
      return { ...NO_CHECKSUM, state: "awaited", size: null, parts: [], upload: this.sign(path, "?again") };
    return { state: "stored", size: null, parts: [], upload: null, checksumAlgorithm: "SHA256", checksum };
  }

  private sign = (path: string, query: string) => ({
    url: `https://bucket/${path}${query}`,
    headers: { "If-None-Match": "*" },
    parts: null,
    completeUrl: null,
    expiresInSeconds: 3600,
  });
}

test("a folder is declared in the order of its paths, and sent six files at a time", async () => {
  const [world, volume, files] = [new World(), new Volume(), pick(600)];
  const transfer = uploadFolder([...files].reverse(), volume, world);
  expect(transfer.getSnapshot().status).toBe("waiting");
  transfer.start();
  const end = await until(transfer, "done");
  expect(end.files).toEqual({ done: 600, all: 600 });
  expect(end.bytes.done).toBe(end.bytes.all);
  expect(volume.declared.map(({ files: each }) => each.length)).toEqual([250, 250, 100]);
  expect(new Set(volume.declared.map(({ key }) => key)).size).toBe(3);
  expect(volume.declared.flatMap(({ files: each }) => each.map(({ path }) => path))).toEqual(
    files.map(({ path }) => path),
  );
  expect(world.sent.length).toBe(600);
  expect(new Set(world.sent.map(({ url, bytes }) => `${url} ${bytes}`)).size).toBe(600);
  expect(world.mostOpen).toBe(6);
  expect(world.sent[0]!.headers).toEqual({ "If-None-Match": "*" });
  expect(volume.declared[0]!.files[0]!.sha256).toMatch(/^[0-9a-f]{64}$/);
});

test("files that are there are not sent, also where only the bucket knows", async () => {
  const [world, files] = [new World(), pick(10)];
  const volume = new Volume(new Set(files.slice(0, 4).map(({ path }) => path)));
  volume.checksums.set(files[9]!.path, await digest("text 9"));
  world.reply = ({ url }) => (url.endsWith("0009.txt") ? fail(412, "PreconditionFailed") : undefined);
  const transfer = uploadFolder(files, volume, world);
  transfer.start();
  const end = await until(transfer, "done");
  expect(world.sent.length).toBe(6);
  expect(end).toMatchObject({ alreadyThere: 5, knownBySize: 0, files: { done: 10 }, failures: [] });
});

test("a file that is there with other bytes is named, and the others are sent", async () => {
  const [world, files, volume] = [new World(), pick(3), new Volume()];
  volume.checksums.set(files[1]!.path, await digest("Text 1"));
  world.reply = ({ url }) => (url.endsWith("0001.txt") ? fail(412, "PreconditionFailed") : undefined);
  const transfer = uploadFolder(files, volume, world);
  transfer.start();
  const end = await until(transfer, "failed");
  expect(end.failures).toMatchObject([{ path: files[1]!.path, code: "OTHER_BYTES" }]);
  expect(end).toMatchObject({ files: { done: 2 }, alreadyThere: 0 });
});

test("a large file that is there as a whole is compared by the checksum of the bucket", async () => {
  const text = "x".repeat(10_000_000);
  const file = { path: "V/large.bin", size: text.length, file: makeFile("V/large.bin", text) };
  const ends: [string, number][] = [];
  for (const stored of [text, `${text.slice(1)}y`]) {
    const [world, volume] = [new World(), new Volume(new Set([file.path]))];
    volume.checksums.set(file.path, await digest(stored));
    const transfer = uploadFolder([file], volume, world);
    transfer.start();
    const { status, alreadyThere } = await until(transfer, (each) => ["done", "failed"].includes(each.status));
    expect(world.sent).toEqual([]);
    ends.push([status, alreadyThere]);
  }
  expect(ends).toEqual([
    ["done", 1],
    ["failed", 0],
  ]);
});

test("files that a response had no room for are declared with another key", async () => {
  const [world, volume, files] = [new World(), new Volume(), pick(10)];
  volume.atMost = 4;
  const transfer = uploadFolder(files, volume, world);
  transfer.start();
  await until(transfer, "done");
  expect(volume.declared.map(({ files: each }) => each.length)).toEqual([10, 6, 2]);
  expect(new Set(volume.declared.map(({ key }) => key)).size).toBe(3);
  expect(world.sent.length).toBe(10);
});

test("an ended session stops the upload, which goes on with the next one and sends the same key", async () => {
  const [world, volume] = [new World(), new Volume()];
  volume.faults = [new ApiError(401, {}, null)];
  world.signedIn = false;
  const transfer = uploadFolder(pick(3), volume, world);
  transfer.start();
  expect((await until(transfer, "signed-out")).failures).toEqual([]);
  expect(world.waits).toEqual([]);
  world.signIn();
  await until(transfer, "done");
  expect(volume.declared[0]).toEqual(volume.declared[1]);
});

test("a URL that has expired is replaced, and the file is sent", async () => {
  const [world, volume] = [new World(), new Volume()];
  world.reply = ({ url }) => (url.endsWith("0001.txt") ? fail(403, "AccessDenied") : undefined);
  const transfer = uploadFolder(pick(3), volume, world);
  transfer.start();
  expect((await until(transfer, "done")).retries).toBe(1);
  expect(volume.asked).toEqual(["VOL001/TEXT/0001.txt"]);
  expect(world.sent.at(-1)!.url).toBe("https://bucket/VOL001/TEXT/0001.txt?again");
});

test("URLs are renewed before they expire", async () => {
  const [world, volume] = [new World(), new Volume()];
  const transfer = uploadFolder(pick(8), volume, world);
  world.reply = () => void (world.time += 3600_000);
  transfer.start();
  await until(transfer, "done");
  expect(volume.asked.length).toBeGreaterThan(0);
});

test("a fault that passes is tried again after 1, 3, 10 and 30 seconds, then reported and sent again on request", async () => {
  const [world, volume] = [new World(), new Volume()];
  world.reply = ({ url }) => (url.endsWith("0001.txt") ? fail(503, "SlowDown") : undefined);
  const transfer = uploadFolder(pick(3), volume, world);
  transfer.start();
  for (const [retries, delay] of [1000, 3000, 10_000, 30_000].entries()) {
    await until(transfer, (each) => each.retries === retries + 1 && world.waits.length === 1);
    expect(world.waits).toEqual([delay]);
    world.pass(delay);
  }
  const end = await until(transfer, "failed");
  expect(end.files.done).toBe(2);
  expect(end.failures).toEqual([
    {
      path: "VOL001/TEXT/0001.txt",
      code: "SlowDown",
      message: "The storage answered 503 SlowDown.",
      advice: expect.any(String),
    },
  ]);
  world.reply = () => undefined;
  transfer.retry();
  expect((await until(transfer, "done")).failures).toEqual([]);
  expect(world.sent.length).toBe(2 + 5 + 1);
});

test("what the API refuses is reported with its code, and concerns the whole upload", async () => {
  const [world, volume] = [new World(), new Volume()];
  volume.faults = [
    new ApiError(409, { type: "urn:exhibit-ingest:problem:already-exists", detail: "a.txt has another hash" }, null),
  ];
  const transfer = uploadFolder(pick(3), volume, world);
  transfer.start();
  const [failure] = (await until(transfer, "failed")).failures;
  expect(failure).toMatchObject({ path: "", code: "already-exists", message: "a.txt has another hash" });
  expect(failure!.advice).toContain("Create another volume");
});

test("a file whose name the API refuses is named, and all others are sent", async () => {
  const [world, volume, files] = [new World(), new Volume(), pick(600)];
  const refused = files[130]!.path;
  const declare = volume.declare.bind(volume);
  volume.declare = async (each, key) => {
    if (each.some(({ path }) => path === refused)) throw new ApiError(400, { detail: "A control character." }, null);
    return declare(each, key);
  };
  const transfer = uploadFolder(files, volume, world);
  transfer.start();
  const end = await until(transfer, "failed");
  expect(end.failures).toMatchObject([{ path: refused, message: "A control character." }]);
  expect(end.files.done).toBe(599);
});

test("a file that was changed is reported, and the others are sent", async () => {
  const [world, files] = [new World(), pick(3)];
  const file = files[1]!.file;
  file.slice = () => ({ text: () => Promise.reject(new DOMException("gone", "NotReadableError")) }) as unknown as Blob;
  const transfer = uploadFolder(files, new Volume(), world);
  transfer.start();
  const end = await until(transfer, "failed");
  expect(end.failures).toMatchObject([{ path: files[1]!.path, code: "FILE_CHANGED" }]);
  expect(end.files.done).toBe(2);
});

test("a file that cannot be read keeps no other one from being sent", async () => {
  const [world, volume, files] = [new World(), new Volume(), pick(3)];
  const { file } = files[1]!;
  file.arrayBuffer = () => Promise.reject(new DOMException("locked", "NotReadableError"));
  const transfer = uploadFolder(files, volume, world);
  transfer.start();
  const end = await until(transfer, "failed");
  expect(end.failures).toMatchObject([{ path: files[1]!.path, code: "FILE_CHANGED" }]);
  expect(end.files.done).toBe(2);
  file.arrayBuffer = async () => new TextEncoder().encode("text 1").buffer;
  transfer.retry();
  expect((await until(transfer, "done")).files.done).toBe(3);
});
