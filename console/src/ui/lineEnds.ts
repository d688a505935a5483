// Texts in controls: browsers turn every line end of a control into LF, and what was not edited keeps its own.

/** Return the characters of a text; a line end of two and a character of two code units are one. */
export const tokenize = (text: string): string[] => text.match(/\r\n|[^]/gu) ?? [];

/** Return how many characters two texts have in common at the beginning, and how many of the rest at the end. */
export function findCommon(from: readonly string[], to: readonly string[]): { start: number; end: number } {
  const shorter = Math.min(from.length, to.length);
  let start = 0;
  while (start < shorter && from[start] === to[start]) start++;
  let end = 0;
  while (end < shorter - start && from[from.length - 1 - end] === to[to.length - 1 - end]) end++;
  return { start, end };
}

/** Return a text as a control holds it. */
export function toControl(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}

/** Return a text after an edit in a control: the characters around the edit keep the line ends that the file has. */
export function keepLineEnds(before: string, shown: string): string {
  if (!before.includes("\r")) return shown;
  const old = tokenize(before);
  const to = tokenize(shown);
  const { start, end } = findCommon(old.map(toControl), to);
  return [...old.slice(0, start), ...to.slice(start, to.length - end), ...old.slice(old.length - end)].join("");
}
