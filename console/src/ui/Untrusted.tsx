import { memo, type ReactNode } from "react";

// Control characters, zero-width characters, and those that change the direction of what follows.
const INVISIBLE =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\uffff]|[\u{e0000}-\u{e007f}]/gu;

// What a control does not show: the same, without the tab and line ends.
export const UNSEEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u00a0]/u;

/** Text from a file: isolated from the direction of the page, and with its invisible characters made visible. */
export function Untrusted({ text }: { text: string | null | undefined }) {
  if (!text) return <span className="quiet">–</span>;
  return <bdi>{showInvisible(text)}</bdi>;
}

const SHOWN_CHARACTERS = 400;

/** A text from a file that can be long: its beginning, and how long it is. */
export function LongText({ text }: { text: string | null | undefined }) {
  if (!text || text.length <= SHOWN_CHARACTERS) return <Untrusted text={text} />;
  return (
    <>
      <Untrusted text={`${text.slice(0, SHOWN_CHARACTERS).replace(/[\ud800-\udbff]$/, "")}…`} />{" "}
      <span className="quiet">{text.length.toLocaleString("en-US")} characters</span>
    </>
  );
}

// In a text of lines: all of these but tabs, and the ends of lines and pages.
const INVISIBLE_IN_LINES = new RegExp(`(?![\\t\\n\\f\\r])(?:${INVISIBLE.source})`, "gu");
const MOST_GLYPHS = 5_000;

/** Lines of a text from a file; of a part that is hardly text, not every character gets its name. */
export const UntrustedLines = memo(function UntrustedLines({ text }: { text: string }) {
  const lines = text.replace(/\r\n?/g, "\n");
  const isText = (lines.match(INVISIBLE_IN_LINES)?.length ?? 0) <= MOST_GLYPHS;
  return <bdi>{isText ? showInvisible(lines, INVISIBLE_IN_LINES) : lines.replace(INVISIBLE_IN_LINES, "▯")}</bdi>;
});

function showInvisible(text: string, invisible = INVISIBLE): ReactNode[] {
  const parts: ReactNode[] = [];
  let end = 0;
  for (const match of text.matchAll(invisible)) {
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

/** Return the begin of a text for where no element can be, as in a menu: characters that could deceive are named in it. */
export const showPlainly = (text: string): string => text.replace(/[\p{Cc}\p{Cf}]/gu, nameCharacter).slice(0, 80);

/** Return the name of a character, such as `U+202E`. */
export function nameCharacter(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;
}
