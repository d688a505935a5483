// What is shown of a file is decided by the type with which the storage sends it, which is one of a short list by the
// extension, and by its first bytes. Whatever is not named here is never rendered: HTML, SVG, Office, e-mail.
import type { Schemas } from "../../api/client";
import type { ImageHead } from "./imageHead";

export type ExhibitFile = Schemas["ExhibitFile"];
export type View = "tiff" | "image" | "pdf" | "text" | "download";

const VIEWS: Record<string, View> = {
  "image/tiff": "tiff",
  "image/png": "image",
  "image/jpeg": "image",
  "application/pdf": "pdf",
  "text/plain": "text",
};

/** Return how a file is shown. */
export function chooseView(file: Pick<ExhibitFile, "mediaType">): View {
  return VIEWS[file.mediaType?.split(";")[0] ?? ""] ?? "download";
}

/** What a browser decodes by itself may have as many pixels as what the worker decodes. */
export const MOST_IMAGE_PIXELS = 80_000_000;

const NAMES: Record<ImageHead["kind"], string> = {
  png: "a PNG image",
  jpeg: "a JPEG image",
  tiff: "a TIFF image",
  pdf: "a PDF document",
  other: "something else",
};
const EXPECTED: Record<string, ImageHead["kind"][]> = {
  // A browser decodes either, whichever of the two types it is sent with.
  image: ["png", "jpeg"],
  pdf: ["pdf"],
};

/** Return why a file is not shown although its name is that of one that is; null if it is what its name says. */
export function findMismatch(view: View, head: ImageHead, isEmpty: boolean): string | null {
  if (isEmpty) return "The file is empty: it has 0 bytes.";
  const expected = EXPECTED[view];
  if (!expected) return null;
  if (!expected.includes(head.kind))
    return `By its name the file is ${view === "pdf" ? NAMES.pdf : "an image"}, and by its first bytes ${NAMES[head.kind]}. It is not shown: download it to look at it with a program that you trust.`;
  if (head.width * head.height > MOST_IMAGE_PIXELS)
    return `The image has ${Math.round((head.width * head.height) / 1e6).toLocaleString()} million pixels, which is too large to show: download it.`;
  return null;
}
