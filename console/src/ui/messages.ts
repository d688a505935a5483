// Messages of the server name options, statuses and routes as programs write them; here they get the words of the pages.

/** The settings of the wizard, by the option that each of them is. */
const SETTINGS: Record<string, string> = {
  encoding: "Encoding",
  delimiter: "Delimiter",
  qualifier: "Qualifier",
  newline: "Line break in a cell",
  header: "Names of the columns",
  header_line: "Line of the names",
  columns: "Columns",
  date_order: "Dates such as 03/04/2019",
  date_format: "How dates are written",
  time_zone: "Time zone of times without one",
  multi_value_separator: "Sign between two custodians or tags",
  nested_separator: "Sign between the levels of a tag",
  strip_prefix: "Leave out the beginning",
  add_prefix: "Look in the folder",
  loadFile: "Rows of documents are in",
  imageLoadFile: "Page images are in",
  load_file: "Rows of documents are in",
  image_load_file: "Page images are in",
  mode: "Mode",
  overlay_key: "A row finds its document by",
  blanks: "A blank cell",
  multi_values: "Custodians and tags",
  fileName: "The name of the file",
  case: "The name of the case",
  name: "The name",
};
const FIELDS = /\b(control_number|bates_begin|bates_end|append_overlay|append|overlay)\b/g;
const STATUSES = /\b(awaiting_upload|completed_with_rejections|undone_with_conflicts|undo_failed)\b/g;
const QUOTED = String.raw`'\w+'`;
const OPTIONS = new RegExp(
  String.raw`(?:\b[Tt]he )?\b[Oo]ptions? (${QUOTED}(?:(?:,| and| or) (?:option )?${QUOTED})*)`,
  "g",
);
const BARE = /\b(?:the )?options? (\w+)(?: \(--[\w-]+\))?(?: and (\w+))?/g;

const nameSetting = (option: string): string => (SETTINGS[option] ? `“${SETTINGS[option]}”` : option);
const isSetting = (option: string | undefined): option is string => option !== undefined && option in SETTINGS;

/** Return a message with the names that the pages have for what it is about. */
export function toWords(message: string): string {
  return message
    .replace(/set option 'header' to false/, "say under “Names of the columns” that they are not in the file")
    .replace(/, (\{"\w+": "[^"]*"\})/, (_, example: string) => `, such as ${readExample(example)}`)
    .replace(
      /(option 'date_format') to (\{"\w+": "[^"]*"\})/,
      (_, option, example) => `${option} to ${readExample(example)}`,
    )
    .replace(OPTIONS, (_, names: string) =>
      names.replace(/(?:option )?'(\w+)'/g, (__, name: string) => nameSetting(name)),
    )
    .replace(/\b([Cc]hange|[Rr]emove) '(\w+)'/g, (whole, verb: string, name: string) =>
      isSetting(name) ? `${verb} ${nameSetting(name)}` : whole,
    )
    .replace(BARE, (whole, first: string, second?: string) =>
      isSetting(first) && (second === undefined || isSetting(second))
        ? [first, second].filter(isSetting).map(nameSetting).join(" and ")
        : whole,
    )
    .replace(/\b(loadFile|imageLoadFile)\b/g, (name) => nameSetting(name))
    .replace(/; GET \/\w+ lists yours\.?/, ". Check the address, or ask your administrator whether you may see it.")
    .replace(/ \((?:acceptRejections|acknowledgeWarnings)\)/, "")
    .replace(FIELDS, (name) => name.replaceAll("_", " "))
    .replace(STATUSES, (status) => status.replaceAll("_", " "));
}

const readExample = (example: string) => /: "([^"]*)"/.exec(example)?.[1] ?? example;

/** Return a fault of one value of a request, whose place is a path such as `options/timeZone`. */
export function describeFault({ location, message }: { location: string; message: string }): string {
  const name = location.split("/").at(-1) ?? "";
  const setting = SETTINGS[name] ?? SETTINGS[name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)];
  return `${setting ? `“${setting}”` : location}: ${toWords(message)}`;
}

/** Return a message about a line without its beginning `Line 6: `, for a place that shows the line beside it. */
export const withoutLine = (message: string, line: number): string =>
  message.replace(new RegExp(`^Lines? ${line}: (.)`), (_, first: string) => first.toUpperCase());

/** What is said in the place of a problem's title, by its code; what the server says is for programs. */
export const TITLES: Record<string, string> = {
  "invalid-request": "A value cannot be used",
  "not-found": "This was not found",
  "no-such-route": "The server does not have this",
  "wrong-state": "This cannot be done now",
  "stale-version": "It was changed meanwhile",
  "in-progress": "This is being done already",
  conflict: "Other requests change the same data now",
  "internal-error": "The server has a fault",
  unavailable: "The server cannot answer now",
  "waking-up": "The database is waking up",
};
