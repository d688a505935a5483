import { expect, test } from "vitest";
import { Crc64 } from "../../src/upload/crc";
import { fileSource, packFiles, uploadSource, type Target, type UploadState, type UploadUrls } from "../../src/upload";
import { fail, makeFile, until, World } from "./world";

const TEXT = "abcdefghijklmnopqrstuvwxy";
const NUMBERS = [1, 2, 3, 4, 5];

const source = () => fileSource(makeFile("production.dat", TEXT));

/** Five parts of five bytes. */
const makeUrls = (numbers = NUMBERS, query = ""): UploadUrls => ({
  url: null,
  headers: { "If-None-Match": "*" },
  parts: numbers.map((number) => ({
    number,
    firstByte: number * 5 - 5,
    size: 5,
    url: `https://bucket/${number}${query}`,
  })),
  completeUrl: `https://bucket/complete${query}`,
  expiresInSeconds: 3600,
});

function storePart(number: number, text = TEXT.slice(number * 5 - 5, number * 5)): UploadState["parts"][number] {
  const crc = new Crc64();
  crc.add(new TextEncoder().encode(text));
  const checksum = { checksumAlgorithm: "CRC64NVME", checksum: crc.toBase64() };
  return {
    number,
    firstByte: number * 5 - 5,
    size: 5,
    etag: `"kept ${number}"`,
    url: `https://bucket/${number}?again`,
    ...checksum,
  };
}

const NO_CHECKSUM = { checksumAlgorithm: null, checksum: null };
const stored = (text: string | null): UploadState => ({
  state: "stored",
  size: 25,
  parts: [],
  upload: null,
  ...(text === null ? NO_CHECKSUM : { checksumAlgorithm: "CRC64NVME", checksum: storePart(1, text).checksum }),
});

const awaited = (stored: UploadState["parts"]): UploadState => {
  const missing = NUMBERS.filter((number) => !stored.some((part) => part.number === number));
  return { ...NO_CHECKSUM, state: "awaited", size: TEXT.length, parts: stored, upload: makeUrls(missing, "?again") };
};

const makeTarget = (urls: UploadUrls | null, ...states: UploadState[]): Target & { asked: number } => ({
  urls,
  asked: 0,
  async getState() {
    this.asked += 1;
    return states.length > 1 ? states.shift()! : states[0]!;
  },
});

const list = (world: World) => world.sent.map(({ method, url, bytes }) => [method, url.slice(15), bytes] as const);
const listCompleted = (world: World) =>
  [...world.sent.at(-1)!.bytes.matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>([^<]*)/g)].map(([, ...found]) => found);

test("a file goes in parts, which are put together in their order", async () => {
  const world = new World();
  const transfer = uploadSource(source(), makeTarget(makeUrls()), world);
  transfer.start();
  const end = await until(transfer, "done");
  expect(end).toMatchObject({ files: { done: 1, all: 1 }, bytes: { done: 25, all: 25 }, alreadyThere: 0 });
  expect(
    list(world)
      .slice(0, 5)
      .map(([, , bytes]) => bytes),
  ).toEqual(["abcde", "fghij", "klmno", "pqrst", "uvwxy"]);
  expect(world.sent.at(-1)).toMatchObject({
    method: "POST",
    url: "https://bucket/complete",
    headers: { "If-None-Match": "*" },
  });
  expect(listCompleted(world)).toEqual(
    NUMBERS.map((each) => [String(each), `"etag of ${TEXT.slice(each * 5 - 5, each * 5)}"`]),
  );
});

test("after a reload only what is missing or differs is sent", async () => {
  const world = new World();
  const target = makeTarget(null, awaited([storePart(1), storePart(2, "other"), storePart(4)]));
  const transfer = uploadSource(source(), target, world);
  transfer.start();
  const end = await until(transfer, "done");
  const urls = list(world).map(([, url]) => url);
  expect(urls.slice(0, 3).sort()).toEqual(["2?again", "3?again", "5?again"]);
  expect(urls.slice(3)).toEqual(["complete?again"]);
  expect(listCompleted(world).map(([, etag]) => etag!.slice(0, 5))).toEqual([
    '"kept',
    '"etag',
    '"etag',
    '"kept',
    '"etag',
  ]);
  expect(end).toMatchObject({ bytes: { done: 25 }, alreadyThere: 2 });
});

test("a part without a checksum is sent again", async () => {
  const world = new World();
  const target = makeTarget(null, awaited([{ ...storePart(1), checksum: null, checksumAlgorithm: null }]));
  const transfer = uploadSource(source(), target, world);
  transfer.start();
  await until(transfer, "done");
  expect(world.sent.length).toBe(6);
});

test.each([
  ["with the same bytes", TEXT, { status: "done", alreadyThere: 1, knownBySize: 0 }],
  ["without a checksum", null, { status: "done", alreadyThere: 1, knownBySize: 1 }],
  ["with other bytes of the same size", TEXT.toUpperCase(), { status: "failed", alreadyThere: 0, knownBySize: 0 }],
])("a file that is there already %s is not sent", async (_, text, expected) => {
  const world = new World();
  const transfer = uploadSource(source(), makeTarget(null, stored(text)), world);
  transfer.start();
  const end = await until(transfer, (each) => each.status === "done" || each.status === "failed");
  expect(end).toMatchObject(expected);
  expect(end.failures.map(({ code }) => code)).toEqual(expected.status === "failed" ? ["OTHER_BYTES"] : []);
  expect(world.sent).toEqual([]);
});

test.each([
  ["another file", { ...awaited([]), size: 26 }, "SIZE_DIFFERS"],
  [
    "parts that are gone",
    { ...NO_CHECKSUM, state: "expired", size: 25, parts: [], upload: null } as UploadState,
    "UPLOAD_EXPIRED",
  ],
])("%s cannot be continued", async (_, state, code) => {
  const transfer = uploadSource(source(), makeTarget(null, state), new World());
  transfer.start();
  expect((await until(transfer, "failed")).failures).toMatchObject([
    { path: "production.dat", code, advice: expect.stringMatching(/import/) },
  ]);
});

test("parts whose URLs have expired get new ones, with one request for all", async () => {
  const world = new World();
  world.reply = ({ url }) => (url.includes("again") ? undefined : fail(403, "AccessDenied"));
  const target = makeTarget(makeUrls(), awaited([]));
  const transfer = uploadSource(source(), target, world);
  transfer.start();
  expect((await until(transfer, "done")).failures).toEqual([]);
  expect(target.asked).toBeLessThanOrEqual(2);
});

test("an upload that was completed by an attempt whose answer was lost is done", async () => {
  const world = new World();
  world.reply = ({ method }) => (method === "POST" ? fail(404, "NoSuchUpload") : undefined);
  const target = makeTarget(makeUrls(), stored(TEXT));
  const transfer = uploadSource(source(), target, world);
  transfer.start();
  expect(await until(transfer, "done")).toMatchObject({ failures: [], bytes: { done: 25 } });
});

test("a part that another window has replaced is sent again before the file is put together", async () => {
  const world = new World();
  let isFirst = true;
  world.reply = ({ method }) => {
    if (method !== "POST" || !isFirst) return undefined;
    isFirst = false;
    return fail(400, "InvalidPart");
  };
  const own = NUMBERS.map((each) => ({ ...storePart(each), etag: `"etag of ${TEXT.slice(each * 5 - 5, each * 5)}"` }));
  own[2] = storePart(3, "other");
  const transfer = uploadSource(source(), makeTarget(makeUrls(), awaited(own)), world);
  transfer.start();
  const end = await until(transfer, "done");
  expect(
    list(world)
      .slice(5)
      .map(([, url]) => url),
  ).toEqual(["complete", "3?again", "complete?again"]);
  expect(end.bytes).toEqual({ done: 25, all: 25 });
});

test("an answer 200 with an error is not taken for success", async () => {
  const world = new World();
  let answers = 0;
  world.reply = ({ method }) => (method === "POST" && answers++ === 0 ? fail(200, "InternalError") : undefined);
  const transfer = uploadSource(source(), makeTarget(makeUrls()), world);
  transfer.start();
  await until(transfer, () => world.waits.length === 1);
  world.pass(1000);
  expect((await until(transfer, "done")).retries).toBe(1);
  expect(answers).toBe(2);
});

test("a packed folder counts its files as their last byte is sent, and its parts join to the zip", async () => {
  const files = Array.from({ length: 30 }, (_, at) => ({
    path: `V/${at}`,
    size: 10,
    file: makeFile("a", "0123456789"),
  }));
  const [world, archive] = [new World(), packFiles(files)];
  const half = Math.ceil(archive.size / 2);
  const places = [
    [0, half],
    [half, archive.size],
  ] as const;
  const parts = places.map(([from, to], at) => ({
    number: at + 1,
    firstByte: from,
    size: to - from,
    url: `https://bucket/${at}`,
  }));
  world.reply = ({ url }) => (url.endsWith("1") ? "never" : undefined);
  const transfer = uploadSource(archive, makeTarget({ ...makeUrls(), parts }), world);
  transfer.start();
  const snapshot = await until(transfer, (each) => each.files.done > 0);
  expect(snapshot.files).toEqual({
    done: [...(archive.ends as Float64Array)].filter((end) => end <= half).length,
    all: 30,
  });
  transfer.pause();
  world.reply = () => undefined;
  transfer.resume();
  expect((await until(transfer, "done")).files.done).toBe(30);
  const whole = await (await packFiles([...files].reverse()).slice(0, archive.size)).text();
  const sent = world.sent.filter(({ method }) => method === "PUT");
  expect(sent[0]!.bytes + sent.at(-1)!.bytes).toBe(whole);
});
