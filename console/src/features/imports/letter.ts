// A letter to the producing party about what it has to send or correct. The list in it is the report that the server has
// written of what it found, as it is; around it stand the numbers of the import, and how lines are named.
import type { Schemas } from "../../api/client";
import { count } from "../../ui/values";

type Details = Schemas["ImportDetails"];
type Facts = Pick<
  Details,
  "fileName" | "volumeName" | "kind" | "phase" | "rowsSeen" | "rejected" | "openRejections" | "files" | "pages"
>;

const NOTHING = "Nothing that has to be sent or corrected was found.";

/** Return the letter; `deficiencies` is the text of the server's report. */
export function buildLetter(facts: Facts, deficiencies: string, today: Date): string {
  const list = deficiencies.replace(/\r\n/g, "\n").trim();
  const parts = [
    today.toLocaleDateString(undefined, { dateStyle: "long" }),
    `Re: ${facts.volumeName === null ? "" : `volume ${facts.volumeName}, `}load file ${facts.fileName}`,
    listFigures(facts).join("\n"),
    ...(list.endsWith(NOTHING) ? [] : [LINES]),
    list,
  ];
  return `${parts.join("\n\n")}\n`;
}

// As docs/load-files.md says: line numbers are physical lines.
const LINES =
  "Please send or correct what is listed below. Each item is named by its document or page, and by the file and the line " +
  "where it is stated. Lines are counted " +
  "from 1, every line of the file, as a text editor counts them; a record that has line breaks is named by its first line.";

/** What was read and found, in the numbers of the import; what is 0 is left out but for the rejected rows. */
function listFigures({ kind, phase, rowsSeen, rejected, openRejections, files, pages }: Facts): string[] {
  const unit = kind === "images" ? "document of the image load file" : "row";
  const figures: [number | null | undefined, string][] = [
    [files?.nativesMissing, "native file that the load file names was not sent"],
    [files?.textsMissing, "text file that the load file names was not sent"],
    [pages?.missingImages, "page image that the image load file names was not sent"],
    [pages?.withoutImages, "document without page images"],
  ];
  const solved = phase === "import" ? rejected - openRejections : 0;
  return [
    `${countWords(rowsSeen, unit)} ${be(rowsSeen)} read; ${rejected.toLocaleString()} ${be(rejected)} not accepted${
      solved > 0 ? `, of which ${solved.toLocaleString()} ${be(solved)} corrected or left out here` : ""
    }.`,
    ...figures.flatMap(([value, words]) => (value ? [`${countWords(value, words)}.`] : [])),
  ];
}

const be = (number: number) => (number === 1 ? "was" : "were");

/** Return a number and its noun, which may have more words after it. */
function countWords(value: number, words: string): string {
  const [, noun = words, rest = ""] = /^(row|native file|text file|page image|document)( .*)?$/.exec(words) ?? [];
  return count(value, noun) + (value === 1 ? rest : rest.replace(" names was not", " names were not"));
}
