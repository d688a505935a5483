// The reasons of rejections and warnings in words, and what to do about a rejected row.

interface Reason {
  words: string;
  advice: string;
}

const REASONS: Record<string, Reason> = {
  MISSING_ID: { words: "no id", advice: "Enter the id of the document." },
  DUPLICATE_ID: {
    words: "id occurs twice",
    advice: "Leave the row out if the document in the case is the right one; give it another id if both are documents.",
  },
  EXISTS_WITH_OTHER_VALUES: {
    words: "in the case with other values",
    advice: "Compare the two. Leave the row out if the case is right; to change the document, import it as an overlay.",
  },
  NOT_IN_CASE: {
    words: "not in the case",
    advice: "Correct the number, or import the document first and import the row again as it is.",
  },
  AMBIGUOUS_KEY: { words: "several documents match", advice: "Overlay them by control number." },
  DOCUMENT_CHANGED: {
    words: "document changed since",
    advice: "Compare the two. If the row is still right, import it over the version that you have seen.",
  },
  WRONG_CELL_COUNT: {
    words: "cells do not fit the header",
    advice: "Merge, split or shift the cells until each is under its column.",
  },
  MALFORMED_QUOTING: {
    words: "damaged qualifiers",
    advice: "Arrange the cells, which are divided here as well as possible.",
  },
  UNDECODABLE_BYTES: { words: "bytes that cannot be read", advice: "Enter the characters that � stands for." },
  KEY_TOO_LONG: { words: "too long", advice: "Shorten it." },
  KEY_NOT_STORABLE: { words: "character that cannot be stored", advice: "Remove the character." },
  TOO_MANY_VALUES: { words: "too many values in a cell", advice: "Keep at most 1,000 values in the cell." },
  RECORD_TOO_LARGE: {
    words: "record too large",
    advice: "Correct it in the file of rejected rows: look for a qualifier that is not closed.",
  },
  VALUE_REFUSED: { words: "refused by the database", advice: "Ask the operator what the database refused." },
  NATIVE_MISSING: { words: "no such native", advice: "Correct the path as the volume has it." },
  TEXT_MISSING: { words: "no such text file", advice: "Correct the path as the volume has it." },
  IMAGE_MISSING: { words: "no such image", advice: "Correct the file of rejected rows, or ask the sender for it." },
  PATH_REFUSED: { words: "path leads out of the volume", advice: "Enter a path within the volume." },
  PATH_AMBIGUOUS: { words: "several files match the path", advice: "Write the path exactly as the file’s." },
  CHUNK_FAILED: { words: "rows failed together", advice: "Retry the import: these rows are read again." },
  LINE_NOT_OPEN: { words: "line is not open", advice: "Leave it out: another import has the line." },
  OPT_COLUMNS: { words: "line cannot be read", advice: "Correct the line in the file of rejected rows." },
  OPT_NO_DOC_BREAK: {
    words: "no document break",
    advice: "Correct the file of rejected rows, or leave the lines out.",
  },
  OPT_DOC_NOT_FOUND: { words: "no document for the images", advice: "Import the data file first, or correct the key." },
  PAGES_OF_REJECTED_ROW: {
    words: "the document’s row was rejected",
    advice: "Correct the row in the import of the data file: its pages follow by themselves.",
  },
  OPT_DUPLICATE_KEY: { words: "image key occurs twice", advice: "Leave one of the two out." },
  HAS_PAGES: { words: "has pages already", advice: "Leave it out if the pages in the case are right." },
};

/** Faults that a cell has by itself: a row is corrected only when each such cell is another one. */
const OWN_FAULTS = new Set([
  ...["MISSING_ID", "UNDECODABLE_BYTES", "KEY_TOO_LONG", "KEY_NOT_STORABLE", "TOO_MANY_VALUES"],
  ...["NATIVE_MISSING", "TEXT_MISSING", "PATH_REFUSED", "PATH_AMBIGUOUS"],
]);
/** Reasons whose message says no more than their words do, or than the sheet beside it. */
const PLAIN = new Set(["MISSING_ID", "WRONG_CELL_COUNT", "MALFORMED_QUOTING"]);
/** Reasons that lie in the case, which may be other now: the row can be imported again as it is. */
const OF_THE_CASE = new Set(["NOT_IN_CASE", "AMBIGUOUS_KEY", "EXISTS_WITH_OTHER_VALUES", "DUPLICATE_ID"]);
const COMPARABLE = new Set(["EXISTS_WITH_OTHER_VALUES", "DUPLICATE_ID", "DOCUMENT_CHANGED"]);

/** Return the words of a reason; a code without words of its own is read as words. */
export const nameReason = (code: string): string =>
  REASONS[code]?.words ?? code.toLowerCase().replaceAll("_", " ").replace("bates", "Bates");
export const adviseOn = (code: string): string | null => REASONS[code]?.advice ?? null;
export const isOwnFault = (code: string): boolean => OWN_FAULTS.has(code);
export const liesInCase = (code: string): boolean => OF_THE_CASE.has(code) || code === "VALUE_REFUSED";
export const isComparable = (code: string): boolean => COMPARABLE.has(code);
export const isPlain = (code: string): boolean => PLAIN.has(code);
