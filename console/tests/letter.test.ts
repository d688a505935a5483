import { expect, test } from "vitest";
import { buildLetter } from "../src/features/imports/letter";

const TODAY = new Date(2026, 10, 27, 12);
const facts = {
  ...{ fileName: "VOL001.dat", volumeName: "VOL001", kind: "rows" as const, phase: "import" as const },
  ...{ rowsSeen: 3_000, rejected: 10, openRejections: 8, pages: null },
  files: { nativesLinked: 5, nativesMissing: 1, textsLinked: 6, textsMissing: 0, unreferenced: 0 },
};
type Facts = Parameters<typeof buildLetter>[0];
const REPORT =
  "Deficiencies of VOL001.dat\r\n\r\nSend these rows again, corrected (10):\r\n  - A-1 (VOL001.dat, line 214): The row has no document number.\r\n";

test("a letter has the numbers of the import around the list of the server", () => {
  const letter = buildLetter(facts as unknown as Facts, REPORT, TODAY);
  expect(letter).toContain("November 27, 2026\n\nRe: volume VOL001, load file VOL001.dat\n\n");
  expect(letter).toContain("3,000 rows were read; 10 were not accepted, of which 2 were corrected or left out here.\n");
  expect(letter).toContain("1 native file that the load file names was not sent.\n");
  expect(letter).not.toContain("text file");
  expect(letter).toContain("Lines are counted from 1");
  expect(letter.endsWith(REPORT.replaceAll("\r\n", "\n"))).toBe(true);
});

test("of images, documents are counted; several files were not sent", () => {
  const images = {
    ...{ ...facts, kind: "images", volumeName: null, rejected: 1, openRejections: 1, files: null, rowsSeen: 1 },
    pages: { missingImages: 2, withoutImages: 3 },
  };
  const letter = buildLetter(images as unknown as Facts, REPORT, TODAY);
  expect(letter).toContain(
    "Re: load file VOL001.dat\n\n1 document of the image load file was read; 1 was not accepted.\n",
  );
  expect(letter).toContain("2 page images that the image load file names were not sent.\n");
  expect(letter).toContain("3 documents without page images.\n");
});

test("where nothing was found, the letter says so and explains no lines", () => {
  const nothing = "Deficiencies of VOL001.dat\n\nNothing that has to be sent or corrected was found.\n";
  const letter = buildLetter({ ...facts, rejected: 0, openRejections: 0 } as unknown as Facts, nothing, TODAY);
  expect(letter).toContain("3,000 rows were read; 0 were not accepted.");
  expect(letter).not.toContain("Lines are counted");
  expect(letter.endsWith("was found.\n")).toBe(true);
});
