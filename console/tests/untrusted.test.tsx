import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { LongText, Untrusted } from "../src/ui/Untrusted";
import { formatBytes } from "../src/ui/values";

test("markup and invisible characters of a file are shown as text", () => {
  const shown = renderToStaticMarkup(<Untrusted text={'<img src=x onerror="1">\u202egpj.\u0000\u{e0041}'} />);
  expect(shown).not.toContain("<img");
  for (const name of ["U+202E", "U+0000", "U+E0041"]) expect(shown).toContain(name);
  expect(shown).toMatch(/^<bdi>/);
});

test("of a long text the beginning is shown, and how long it is", () => {
  const shown = renderToStaticMarkup(<LongText text={`${"x".repeat(399)}\u{1f600}${"y".repeat(3_599)}`} />);
  expect(shown).toContain(`<bdi>${"x".repeat(399)}…</bdi>`);
  expect(shown).toContain("4,000 characters");
  expect(renderToStaticMarkup(<LongText text="short" />)).toBe("<bdi>short</bdi>");
});

test.each([
  [0, "0 bytes"],
  [999, "999 bytes"],
  [1000, "1 kB"],
  [1_550_000, "1.6 MB"],
  [2e15, "2,000 TB"],
])("a size of %d is %s", (size, text) => expect(formatBytes(size)).toBe(text));
