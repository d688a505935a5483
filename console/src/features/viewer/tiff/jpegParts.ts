// JPEG within TIFF (Technical Note 2): parts without the tables that all of them share. The browser decodes them.
import { readJpegSize } from "../imageHead";
import { broken } from "./faults";
import type { Layout, Part } from "./layout";

/** "Adobe", version 100, and whether the colours are YCbCr: without it, a decoder guesses. */
const adobe = (transform: number) => [0xff, 0xee, 0, 14, 0x41, 0x64, 0x6f, 0x62, 0x65, 0, 100, 0, 0, 0, 0, transform];

/** Return a part as a file of its own. */
export function joinJpeg(
  tables: Uint8Array,
  part: Uint8Array,
  { photometric, samples }: Layout,
): Uint8Array<ArrayBuffer> {
  const isJpeg = part[0] === 0xff && part[1] === 0xd8;
  if (!isJpeg) throw broken("A part of the page is not the JPEG image that it should be.");
  const marker = samples === 3 ? adobe(photometric === 6 ? 1 : 0) : [];
  const shared = tables.length > 4 ? tables.subarray(2, tables.length - 2) : new Uint8Array();
  return concatenate(Uint8Array.from([0xff, 0xd8, ...marker]), shared, part.subarray(2));
}

function concatenate(...arrays: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const found = new Uint8Array(arrays.reduce((sum, each) => sum + each.length, 0));
  let at = 0;
  for (const each of arrays) {
    found.set(each, at);
    at += each.length;
  }
  return found;
}

/** Return the pixels of a part, and how many are in a row. */
export async function decodeJpeg(layout: Layout, part: Part, bytes: Uint8Array): Promise<[Uint8ClampedArray, number]> {
  const file = joinJpeg(layout.jpegTables, bytes, layout);
  const [width, height] = readJpegSize(file) ?? [0, 0];
  if (width === 0 || width > part.width + 16 || height > part.height + 16)
    throw broken("A part of the page has another size than the page says.");
  const bitmap = await createImageBitmap(new Blob([file], { type: "image/jpeg" })).catch(() => {
    throw broken("A part of the page is a damaged JPEG image.");
  });
  const context = new OffscreenCanvas(width, height).getContext("2d")!;
  context.drawImage(bitmap, 0, 0);
  bitmap.close();
  return [context.getImageData(0, 0, width, height).data, width];
}
