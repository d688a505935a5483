import type { Tags } from "./directories";
import { broken, FileFault } from "./faults";

/** What a page may have: 80 million pixels are an A2 sheet at 400 dpi, and 320 MB of memory while it is decoded. */
export const MOST_PIXELS = 80_000_000;
export const MOST_BYTES = 128_000_000;
/** Browsers draw no side that is longer. */
const MOST_SIDE = 32_767;
const MOST_PARTS = 100_000;

/** A strip or tile: its bytes in the file, and which pixels it has. Tiles reach beyond the page. */
export interface Part {
  offset: number;
  bytes: number;
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Layout {
  width: number;
  height: number;
  compression: number;
  /** Bits of a sample, and samples of a pixel. */
  bits: number;
  samples: number;
  photometric: number;
  isReversed: boolean;
  isTwoDimensional: boolean;
  isPredicted: boolean;
  colours: readonly number[];
  jpegTables: Uint8Array;
  /** How far the page is to be turned clockwise, in degrees. */
  turn: number;
  /** How much higher a pixel is than wide; faxes have half as many lines as columns. */
  pixelHeight: number;
  parts: Part[];
}

export const JPEG = 7;
const KNOWN = new Set([1, 2, 3, 4, 5, JPEG, 8, 32773, 32946]);
const TURNS: Record<number, number> = { 1: 0, 3: 180, 6: 90, 8: 270 };
const unknown = (detail: string) => new FileFault("unknown-kind", detail);

/** Return how the pixels of a page are stored. Throws FileFault for a page that cannot be decoded, before any is. */
export function readLayout(tags: Tags): Layout {
  const value = (tag: number, otherwise: number) => tags.get(tag)?.[0] ?? otherwise;
  const [width, height] = [value(256, 0), value(257, 0)];
  if (width === 0 || height === 0) throw broken("The page has no width or no height.");
  if (width * height > MOST_PIXELS) {
    const pixels = Math.round((width * height) / 1e6).toLocaleString("en-US");
    throw new FileFault("too-large", `The page has ${pixels} million pixels.`);
  }
  if (Math.max(width, height) > MOST_SIDE)
    throw new FileFault("too-large", "A side of the page has more than 32,767 pixels.");
  const layout = {
    width,
    height,
    compression: value(259, 1),
    bits: value(258, 1),
    samples: value(277, 1),
    photometric: value(262, 0),
    isReversed: value(266, 1) === 2,
    isTwoDimensional: (value(292, 0) & 1) === 1,
    isPredicted: value(317, 1) === 2,
    colours: tags.get(320) ?? [],
    jpegTables: Uint8Array.from(tags.get(347) ?? []),
    turn: TURNS[value(274, 1)] ?? -1,
    pixelHeight: readPixelHeight(value(282, 1), value(283, 1)),
    parts: readParts(tags, width, height),
  };
  requireKnown(layout, value(284, 1), value(339, 1));
  return layout;
}

function requireKnown(layout: Layout, planes: number, format: number): void {
  const { compression, bits, samples, photometric, colours, turn, isPredicted } = layout;
  if (!KNOWN.has(compression)) throw unknown(`It has compression ${compression}.`);
  if (turn < 0) throw unknown("The page is mirrored.");
  if (planes !== 1 && samples > 1) throw unknown("Its colours are stored apart from each other.");
  const isGrey = photometric <= 1 && samples <= 2 && (samples === 1 || bits === 8);
  const isPalette = photometric === 3 && samples === 1 && colours.length >= 3 << bits;
  const isColour = [2, 6].includes(photometric) && bits === 8 && [3, 4].includes(samples);
  if (![1, 2, 4, 8].includes(bits) || format !== 1) throw unknown(`It has samples of ${bits} bits.`);
  if (!(isGrey || isPalette || isColour) || (photometric === 6 && compression !== JPEG))
    throw unknown(`It has colours of kind ${photometric}.`);
  if (compression >= 2 && compression <= 4 && (bits !== 1 || samples !== 1))
    throw broken("It has colours, and a compression for black and white.");
  if (compression === JPEG && (bits !== 8 || isPalette)) throw unknown(`It has JPEG samples of ${bits} bits.`);
  if (isPredicted && bits !== 8) throw unknown("It predicts samples of less than a byte.");
}

function readPixelHeight(across: number, down: number): number {
  const ratio = across / down;
  return ratio > 0.2 && ratio < 5 ? ratio : 1;
}

function readParts(tags: Tags, width: number, height: number): Part[] {
  const isTiled = tags.has(322);
  const offsets = tags.get(isTiled ? 324 : 273) ?? [];
  const counts = tags.get(isTiled ? 325 : 279) ?? [];
  const wide = isTiled ? (tags.get(322)?.[0] ?? 0) : width;
  const high = isTiled ? (tags.get(323)?.[0] ?? 0) : Math.min(tags.get(278)?.[0] ?? height, height);
  if (wide === 0 || high === 0 || wide * high > MOST_PIXELS) throw broken("The parts of the page have no size.");
  const across = Math.ceil(width / wide);
  const needed = across * Math.ceil(height / high);
  if (needed > MOST_PARTS) throw new FileFault("too-large", "The page has more than 100,000 parts.");
  if (offsets.length < needed || counts.length < needed) throw broken("Parts of the page are not in the file.");
  const parts = Array.from({ length: needed }, (_, index) => {
    const [x, y] = [(index % across) * wide, Math.floor(index / across) * high];
    const rows = isTiled ? high : Math.min(high, height - y);
    return { offset: offsets[index]!, bytes: counts[index]!, x, y, width: wide, height: rows };
  });
  if (parts.reduce((sum, part) => sum + part.bytes, 0) > MOST_BYTES)
    throw new FileFault("too-large", "The page has more than 128 MB.");
  if (isTiled && needed * wide * high > 2 * MOST_PIXELS) throw broken("The parts of the page are too large for it.");
  return parts;
}
