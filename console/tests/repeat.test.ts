import { expect, test } from "vitest";
import { ApiError, type Schemas } from "../src/api/client";
import { repeat } from "../src/api/repeat";

const problem = (status: number, type = "") =>
  new ApiError(status, { type: `urn:exhibit-ingest:problem:${type}` } as Partial<Schemas["Problem"]>, null);

test.each([
  [problem(503, "waking-up")],
  [problem(429)],
  [problem(409, "in-progress")],
  [new TypeError("Failed to fetch")],
])("what can succeed a moment later is sent again: %s", async (fault) => {
  const waited: number[] = [];
  let attempts = 0;
  const request = async () => {
    attempts += 1;
    if (attempts < 3) throw fault;
    return attempts;
  };
  expect(await repeat(request, async (ms) => void waited.push(ms))).toBe(3);
  expect(waited).toHaveLength(2);
  expect(waited[1]!).toBeGreaterThanOrEqual(1_000);
});

test.each([[problem(422)], [problem(409, "wrong-state")], [new Error("a bug")]])(
  "what the server has decided is not: %s",
  async (fault) => {
    let attempts = 0;
    const request = async () => {
      attempts += 1;
      throw fault;
    };
    await expect(repeat(request, async () => undefined)).rejects.toBe(fault);
    expect(attempts).toBe(1);
  },
);

test("what was refused because the session has ended is sent again after the next sign-in", async () => {
  const order: string[] = [];
  const request = async () => {
    order.push("request");
    if (order.length < 4) throw problem(401);
    return order;
  };
  const signIn = async () => void order.push("sign in");
  const found = await repeat(request, async () => undefined, signIn);
  expect(found).toEqual(["request", "sign in", "request", "sign in", "request"]);
});

test("the last fault is that of the sixth attempt", async () => {
  let attempts = 0;
  const request = async () => {
    attempts += 1;
    throw problem(503);
  };
  await expect(repeat(request, async () => undefined)).rejects.toMatchObject({ status: 503 });
  expect(attempts).toBe(6);
});

test("a request is not repeated before the server says", async () => {
  const waited: number[] = [];
  const faults = [new ApiError(409, { type: "urn:exhibit-ingest:problem:in-progress" }, null, 27_000)];
  const request = async () => {
    const fault = faults.shift();
    if (fault) throw fault;
  };
  await repeat(request, async (ms) => void waited.push(ms));
  expect(waited).toEqual([27_000]);
});
