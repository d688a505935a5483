import { afterEach, beforeEach, expect, test, vi } from "vitest";

const CONFIG = { signIn: { kind: "cognito", domain: "https://sign.in", clientId: "console" }, storage: "" };

/** What the hosted page answers to the next requests for tokens; where the window was sent to. */
let tokens: (() => Response | Promise<Response>)[];
let left: string[];
let session: typeof import("../src/auth/session");

const grant = (name: string) => () =>
  Response.json({ id_token: name, refresh_token: "again", expires_in: 3600 }) as Response;

beforeEach(async () => {
  [tokens, left] = [[grant("one")], []];
  vi.resetModules();
  vi.useFakeTimers();
  vi.stubGlobal("location", {
    search: "?code=c&state=1",
    pathname: "/console/",
    origin: "https://api",
    assign: (url: string) => left.push(url.split("?")[0]!),
  });
  vi.stubGlobal("history", { replaceState: () => undefined });
  vi.stubGlobal("sessionStorage", {
    getItem: () => '{"verifier": "v", "back": "/console/"}',
    removeItem: () => undefined,
    setItem: () => undefined,
  });
  vi.stubGlobal("fetch", async (url: string) =>
    url === "/console/config.json" ? Response.json(CONFIG) : await tokens.shift()!(),
  );
  session = await import("../src/auth/session");
  await session.startSession();
  expect(session.getToken()).toBe("one");
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("a late refusal of an earlier token does not end the session", async () => {
  tokens = [grant("two")];
  session.loseSession("one");
  expect(session.getToken()).toBeNull();
  await session.renewSession();
  session.loseSession("one");
  expect(session.getToken()).toBe("two");
});

test("who has signed out stays so, although a renewal was under way", async () => {
  let answer: (response: Response) => void = () => undefined;
  tokens = [() => new Promise((resolve) => (answer = resolve))];
  const renewal = session.renewSession();
  session.signOut();
  answer(grant("two")());
  await renewal;
  expect([session.getToken(), left]).toEqual([null, ["https://sign.in/logout"]]);
  expect(vi.getTimerCount()).toBe(0);
});

test("a refused renewal leads to the sign-in, and one without an answer can be repeated", async () => {
  tokens = [() => Promise.reject(new TypeError("Failed to fetch")), () => new Response("{}", { status: 400 })];
  session.loseSession("one");
  await expect(session.renewSession()).rejects.toThrow(TypeError);
  expect(left).toEqual([]);
  await session.renewSession();
  expect(left).toEqual(["https://sign.in/oauth2/authorize"]);
});

test("a sign-in without an answer goes on by itself", async () => {
  vi.resetModules();
  let attempts = 0;
  const isDown = () => ++attempts < 3;
  vi.stubGlobal("fetch", async (url: string) => {
    if (isDown()) throw new TypeError("Failed to fetch");
    return url === "/console/config.json" ? Response.json(CONFIG) : grant("late")();
  });
  session = await import("../src/auth/session");
  const started = session.startSession();
  await vi.advanceTimersByTimeAsync(4_000);
  expect([attempts, session.getToken()]).toEqual([1, null]);
  await vi.advanceTimersByTimeAsync(7_000);
  await started;
  expect([attempts, session.getToken()]).toEqual([4, "late"]);
});
