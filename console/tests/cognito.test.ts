import { afterEach, expect, test, vi } from "vitest";
import { finishSignIn } from "../src/auth/cognito";

const PAGE = { domain: "https://sign.in", clientId: "console", redirect: "https://api/console/" };

afterEach(() => void vi.unstubAllGlobals());

/** A window at an address, which has begun sign-ins with these states. */
function openAt(search: string, ...states: string[]) {
  const kept = new Map(states.map((state) => [`sign-in:${state}`, '{"verifier": "v", "back": "/console/cases/7"}']));
  const address = { search };
  vi.stubGlobal("location", address);
  vi.stubGlobal("sessionStorage", {
    getItem: (name: string) => kept.get(name) ?? null,
    removeItem: (name: string) => kept.delete(name),
  });
  vi.stubGlobal("history", {
    replaceState: (_: unknown, __: string, url: string) => void (address.search = new URL(url, PAGE.redirect).search),
  });
}

test("a refused sign-in says why, and a reload begins another one", async () => {
  openAt("?error=access_denied&error_description=User+is+disabled&state=1", "1");
  await expect(finishSignIn(PAGE)).rejects.toThrow("The sign-in failed (User is disabled). Reload the page");
  expect(await finishSignIn(PAGE)).toBeNull();
});

test.each(["?error=x&error_description=Call+555&state=2", "?error=Call+555", "?code=stolen&state=2"])(
  "an answer that this window has not requested is refused, and nothing of it is shown: %s",
  async (search) => {
    openAt(search, "1");
    await expect(finishSignIn(PAGE)).rejects.toThrow(/^This sign-in was not started in this window/);
  },
);

test("a code in the address of a page is not an answer", async () => {
  openAt("?code=MISSING_ID");
  expect(await finishSignIn(PAGE)).toBeNull();
});
