import { expect, test } from "vitest";
import { describeFault, toWords, withoutLine } from "../src/ui/messages";

test.each([
  [
    "Option 'time_zone' is 'Foo/Bar', which is not an IANA time zone.",
    "“Time zone of times without one” is 'Foo/Bar', which is not an IANA time zone.",
  ],
  [
    "Options 'delimiter' and 'qualifier' are both ';'. Change 'qualifier', or remove it to have it detected.",
    "“Delimiter” and “Qualifier” are both ';'. Change “Qualifier”, or remove it to have it detected.",
  ],
  ["Change option 'delimiter' or option 'newline'.", "Change “Delimiter” or “Line break in a cell”."],
  [
    "Say which column it is: map it to control_number with option 'columns'. If the file has no header line, set option 'header' to false.",
    "Say which column it is: map it to control number with “Columns”. If the file has no header line, say under “Names of the columns” that they are not in the file.",
  ],
  [
    'Correct it, or state how the dates are written: option \'date_format\', {"date_sent": "%d.%m.%Y"}.',
    "Correct it, or state how the dates are written: “How dates are written”, such as %d.%m.%Y.",
  ],
  [
    'If it is a day number of Excel, set option \'date_format\' to {"date_sent": "excel"}.',
    "If it is a day number of Excel, set “How dates are written” to excel.",
  ],
  [
    "Set the option strip_prefix (--strip-prefix) to what precedes the volume's own folders.",
    "Set “Leave out the beginning” to what precedes the volume's own folders.",
  ],
  [
    "If it is meant, correct the path, or use the options strip_prefix and add_prefix.",
    "If it is meant, correct the path, or use “Leave out the beginning” and “Look in the folder”.",
  ],
  ["Set loadFile to the path of one.", "Set “Rows of documents are in” to the path of one."],
  [
    "The import has the status awaiting_upload, which does not allow run; possible now: options, cancel.",
    "The import has the status awaiting upload, which does not allow run; possible now: options, cancel.",
  ],
  [
    "You have no such import; GET /imports lists yours.",
    "You have no such import. Check the address, or ask your administrator whether you may see it.",
  ],
  [
    "3 rows would be rejected, or accept that they are left out (acceptRejections).",
    "3 rows would be rejected, or accept that they are left out.",
  ],
  ["Columns of the file: option, 'delimiter', options.", "Columns of the file: option, 'delimiter', options."],
])("a message names what the page has: %s", (message, words) => expect(toWords(message)).toBe(words));

test("a line that stands beside a message is not repeated in it", () => {
  expect(withoutLine("Line 6: 3 missing: A-2 to A-4.", 6)).toBe("3 missing: A-2 to A-4.");
  expect(withoutLine("Line 6: the parent is missing.", 6)).toBe("The parent is missing.");
  expect(withoutLine("Line 2 of this file has the same id.", 6)).toBe("Line 2 of this file has the same id.");
  expect(withoutLine("Line 60: 3 missing.", 6)).toBe("Line 60: 3 missing.");
});

test("a fault of a request is named as the field that it is about", () => {
  const message = "String should have at most 255 characters";
  expect(describeFault({ location: "fileName", message })).toBe(`“The name of the file”: ${message}`);
  expect(describeFault({ location: "options/timeZone", message })).toContain("“Time zone of times without one”:");
  expect(describeFault({ location: "rows/3", message })).toBe(`rows/3: ${message}`);
});
