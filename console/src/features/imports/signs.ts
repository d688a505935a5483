const NAMES: Record<string, string> = {
  "\u0014": "DC4 (U+0014)",
  "\t": "tab (U+0009)",
  ",": "comma (U+002C)",
  ";": "semicolon (U+003B)",
  "|": "pipe (U+007C)",
  '"': "quotation mark (U+0022)",
  "^": "caret (U+005E)",
};

/** Return the name of a character that separates or encloses cells, with its number: most of them cannot be seen. */
export function nameSign(sign: string | null): string {
  if (sign === null) return "none";
  const known = NAMES[sign];
  if (known) return known;
  const number = sign.codePointAt(0);
  return number === undefined ? "none" : `${sign} (U+${number.toString(16).toUpperCase().padStart(4, "0")})`;
}
