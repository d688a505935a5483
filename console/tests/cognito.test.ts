import { afterEach, expect, test, vi } from "vitest";
import { finishSignIn } from "../src/auth/cognito";

const PAGE = { domain: "https://sign.in", clientId: "console", redirect: "https://api/console/" };

afterEach(() => void vi.unstubAllGlobals());

test("a refused sign-in says why, and a reload begins another one", async () => {
  const address = { search: "?error=access_denied&error_description=User+is+disabled&state=1" };
  vi.stubGlobal("location", address);
  vi.stubGlobal("history", {
    replaceState: (_: unknown, __: string, url: string) => void (address.search = new URL(url, PAGE.redirect).search),
  });
  await expect(finishSignIn(PAGE)).rejects.toThrow("The sign-in failed (User is disabled). Reload the page");
  expect(await finishSignIn(PAGE)).toBeNull();
});
