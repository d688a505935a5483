const NAMES: Record<string, string> = {
  "\u0014": "DC4 (020)",
  "\t": "tab",
  " ": "space",
  ",": "comma ,",
  ";": "semicolon ;",
  "|": "pipe |",
  "^": "caret ^",
  "\u00fe": "thorn þ",
  '"': 'quote "',
};
const SEEN = /^[\p{L}\p{N}\p{P}\p{S}]+$/u;

/** Return a character that separates or encloses cells as people of this trade write it; by its number if it is unseen. */
export function nameSign(sign: string | boolean | null): string {
  if (sign === null || sign === "") return "none";
  if (typeof sign === "boolean") return sign ? "yes" : "no";
  const number = sign.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
  return NAMES[sign] ?? (SEEN.test(sign) ? sign : `U+${number}`);
}
