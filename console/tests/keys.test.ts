import { describe, expect, test, vi } from "vitest";
import { findKey, listKeys, type Key } from "../src/ui/keys";

const effects: (() => void)[] = [];
vi.mock("react", () => ({
  useRef: <T>(current: T) => ({ current }),
  useEffect: (effect: () => void) => void effects.push(effect),
}));

async function add(title: string, ...keys: string[]) {
  const { useKeys } = await import("../src/ui/keys");
  useKeys(
    title,
    keys.map((each): Key => ({ keys: each, does: `${title} ${each}`, run: () => undefined })),
  );
  for (const effect of effects.splice(0)) effect();
}

describe("the keys of the page", async () => {
  await add("Every page", "?", "g c", "g d");
  await add("Documents", "j", "g d");

  test("are found alone and in pairs, those of the page that was opened last first", () => {
    expect(findKey("j", "").key?.does).toBe("Documents j");
    expect(findKey("g", "")).toEqual({ key: null, begun: "g" });
    expect(findKey("c", "g").key?.does).toBe("Every page g c");
    expect(findKey("d", "g").key?.does).toBe("Documents g d");
    expect(findKey("j", "g").key?.does).toBe("Documents j");
    expect(findKey("z", "")).toEqual({ key: null, begun: "" });
  });

  test("are listed by the part of the console that has them", () => {
    expect(listKeys().map(({ title }) => title)).toEqual(["Every page", "Documents"]);
  });
});
