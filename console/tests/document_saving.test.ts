import { QueryClient } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Schemas } from "../src/api/client";
import { addName, setText, type Draft } from "../src/features/documents/detail/draft";
import { save } from "../src/features/documents/detail/saving";
import { beginWork, changeWork, endWork, getWork } from "../src/features/documents/detail/work";

// The client takes both when it is made; Node has no page whose address completes a path.
const answering = vi.hoisted(() => {
  const answering = { handle: (_: Request): Promise<Response> => Promise.reject(new TypeError("no server")) };
  const Native = globalThis.Request;
  globalThis.Request = class extends Native {
    constructor(input: string, init?: RequestInit) {
      super(new URL(input, "http://console.test"), init);
    }
  } as typeof Request;
  globalThis.fetch = (request) => answering.handle(request as Request);
  return answering;
});

vi.mock("../src/api/repeat", async (original) => ({
  ...(await original<object>()),
  // Without the pauses: one repetition, as the first one of the real thing.
  repeat: async (request: () => Promise<unknown>) =>
    request().catch((error: unknown) => {
      if (error instanceof TypeError) return request();
      throw error;
    }),
}));

type Exhibit = Schemas["Exhibit"];

const START = {
  id: 7,
  version: 1,
  title: "Plan",
  fileName: "plan.doc",
  datePrecision: {},
  properties: {},
  custodians: [],
  tags: [],
} as unknown as Exhibit;

/** A server of one document, which answers a key with its first answer and can lose answers. */
class Server {
  exhibit = START;
  writes: { method: string; path: string; key: string; body: unknown }[] = [];
  loses = 0;
  private answers = new Map<string, [number, unknown]>();

  handle = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (request.method === "GET") return respond(200, pathname.endsWith("/changes") ? { items: [] } : this.exhibit);
    const key = request.headers.get("Idempotency-Key")!;
    const body = JSON.parse(await request.text()) as Record<string, string[]>;
    const answer = this.answers.get(key) ?? this.write(request, pathname, key, body);
    if (answer[0] < 400) this.answers.set(key, answer);
    if (this.loses-- > 0) throw new TypeError("no answer");
    return respond(...answer);
  };

  private write(request: Request, path: string, key: string, body: Record<string, string[]>): [number, unknown] {
    const { version } = this.exhibit;
    if (request.method === "PATCH" && request.headers.get("If-Match") !== `"${version}"`)
      return [412, { type: "urn:exhibit-ingest:problem:stale-version", currentVersion: version }];
    if (request.method === "PATCH" && (body["title"] as unknown) === "refused")
      return [400, problem([{ location: "body/title", message: "too long" }])];
    this.writes.push({ method: request.method, path, key, body });
    const names = body["tags"] ?? [];
    const tags = request.method === "POST" ? [...this.exhibit.tags, ...names] : this.exhibit.tags;
    this.exhibit = { ...this.exhibit, ...(request.method === "PATCH" && body), tags, version: version + 1 };
    return [200, this.exhibit];
  }
}

const problem = (errors: unknown) => ({ type: "urn:exhibit-ingest:problem:invalid-request", errors });
const respond = (status: number, body: unknown) => new Response(JSON.stringify(body), { status });

let server: Server;
const queries = new QueryClient();
const edit = (how: (draft: Draft) => Draft) => changeWork(7, { draft: how(getWork(7)!.draft) });

beforeEach(() => {
  server = new Server();
  answering.handle = server.handle;
  beginWork(START);
});

afterEach(() => endWork(7));

test("everything is saved, each part by its own request, and the form ends", async () => {
  edit((draft) => addName(setText(draft, "field:title", "Mine"), "tags", "Hot"));
  await save(7, queries);
  expect(server.writes.map(({ method, path }) => `${method} ${path}`)).toEqual(["PATCH /exhibits/7", "POST /taggings"]);
  expect([server.exhibit.title, server.exhibit.tags, getWork(7)]).toEqual(["Mine", ["Hot"], undefined]);
});

test("a change whose answer is lost takes effect once, however often it is sent", async () => {
  edit((draft) => addName(setText(draft, "field:title", "Mine"), "tags", "Hot"));
  server.loses = 2;
  await save(7, queries);
  expect(getWork(7)).toMatchObject({ isSaving: false, error: expect.any(TypeError) });
  expect(server.writes.length).toBe(1);
  server.loses = 1;
  await save(7, queries);
  expect(server.writes.length).toBe(2);
  expect([server.exhibit.title, server.exhibit.tags, getWork(7)]).toEqual(["Mine", ["Hot"], undefined]);
});

test("an attempt to save whose edits were dropped sends nothing of those that were begun after it", async () => {
  edit((draft) => setText(draft, "field:title", "Dropped"));
  const saving = save(7, queries);
  endWork(7);
  beginWork(START);
  edit((draft) => addName(setText(draft, "field:title", "Not saved yet"), "tags", "Hot"));
  await saving;
  expect(server.writes.map(({ body }) => body)).toEqual([{ title: "Dropped" }]);
  expect(getWork(7)).toMatchObject({ isSaving: false, error: null, failures: 0 });
  expect(getWork(7)!.draft.texts).toEqual(new Map([["field:title", "Not saved yet"]]));
});

test("after a lost answer another text is another decision, and meets the first one", async () => {
  edit((draft) => setText(draft, "field:title", "First"));
  server.loses = 2;
  await save(7, queries);
  edit((draft) => setText(draft, "field:title", "Second"));
  await save(7, queries);
  expect(getWork(7)!.conflict?.theirs.title).toBe("First");
  changeWork(7, { conflict: { ...getWork(7)!.conflict!, choices: new Map([["field:title", "mine"]]) } });
  await save(7, queries);
  expect([server.exhibit.title, getWork(7)]).toEqual(["Second", undefined]);
});

test("what another user has written is never overwritten unseen, and what is elsewhere does not stop", async () => {
  edit((draft) => setText(draft, "field:title", "Mine"));
  server.exhibit = { ...START, version: 2, fileName: "other.doc" };
  await save(7, queries);
  expect([server.exhibit.title, server.exhibit.fileName, getWork(7)]).toEqual(["Mine", "other.doc", undefined]);
  beginWork(server.exhibit);
  edit((draft) => setText(draft, "field:title", "Mine again"));
  server.exhibit = { ...server.exhibit, version: 9, title: "Theirs" };
  await save(7, queries);
  expect([server.exhibit.title, getWork(7)!.draft.texts.get("field:title")]).toEqual(["Theirs", "Mine again"]);
  // Undecided, nothing is sent.
  await save(7, queries);
  expect(server.exhibit.title).toBe("Theirs");
  // A third writer, after the choice.
  changeWork(7, { conflict: { ...getWork(7)!.conflict!, choices: new Map([["field:title", "mine"]]) } });
  server.exhibit = { ...server.exhibit, version: 10, title: "Third" };
  await save(7, queries);
  expect([server.exhibit.title, getWork(7)!.conflict?.theirs.title]).toEqual(["Third", "Third"]);
});

test("a refused value is named at its place, and stays as it was typed", async () => {
  edit((draft) => setText(draft, "field:title", "refused"));
  await save(7, queries);
  expect([...getWork(7)!.faults]).toEqual([["field:title", "Too long"]]);
  expect(getWork(7)!.draft.texts.get("field:title")).toBe("refused");
  edit((draft) => setText(draft, "field:documentDate", "31.12.2019"));
  await save(7, queries);
  expect([...getWork(7)!.faults.keys()]).toEqual(["field:documentDate"]);
  expect(server.writes).toEqual([]);
});
