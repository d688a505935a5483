import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { Untrusted } from "../src/ui/Untrusted";
import { formatBytes } from "../src/ui/values";

test("markup and invisible characters of a file are shown as text", () => {
  const shown = renderToStaticMarkup(<Untrusted text={'<img src=x onerror="1">\u202egpj.\u0000\u{e0041}'} />);
  expect(shown).not.toContain("<img");
  for (const name of ["U+202E", "U+0000", "U+E0041"]) expect(shown).toContain(name);
  expect(shown).toMatch(/^<bdi>/);
});

test.each([
  [0, "0 bytes"],
  [999, "999 bytes"],
  [1000, "1 kB"],
  [1_550_000, "1.6 MB"],
  [2e15, "2,000 TB"],
])("a size of %d is %s", (size, text) => expect(formatBytes(size)).toBe(text));
