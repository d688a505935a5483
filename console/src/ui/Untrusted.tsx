import type { ReactNode } from "react";

// Control characters, zero-width characters, and those that change the direction of what follows.
const INVISIBLE =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\uffff]|[\u{e0000}-\u{e007f}]/gu;

/** Text from a file: isolated from the direction of the page, and with its invisible characters made visible. */
export function Untrusted({ text }: { text: string | null | undefined }) {
  if (!text) return <span className="quiet">–</span>;
  return <bdi>{showInvisible(text)}</bdi>;
}

function showInvisible(text: string): ReactNode[] {
  const parts: ReactNode[] = [];
  let end = 0;
  for (const match of text.matchAll(INVISIBLE)) {
    parts.push(text.slice(end, match.index));
    parts.push(
      <span key={match.index} className="glyph" title="invisible character">
        {nameCharacter(match[0])}
      </span>,
    );
    end = match.index + match[0].length;
  }
  parts.push(text.slice(end));
  return parts;
}

/** Return the name of a character, such as `U+202E`. */
export function nameCharacter(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;
}
