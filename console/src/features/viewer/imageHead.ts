// What the first bytes of a file say that it is, whatever its name says.

export interface ImageHead {
  kind: "png" | "jpeg" | "tiff" | "pdf" | "other";
  /** The size in pixels, of a PNG or JPEG whose head has it. */
  width: number;
  height: number;
}

const SIGNATURES: [ImageHead["kind"], number[]][] = [
  ["png", [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ["jpeg", [0xff, 0xd8, 0xff]],
  ["tiff", [0x49, 0x49, 0x2a, 0]],
  ["tiff", [0x4d, 0x4d, 0, 0x2a]],
  ["pdf", [0x25, 0x50, 0x44, 0x46, 0x2d]],
];

/** Return the kind of a file by its signature, and the size of an image. */
export function readHead(bytes: Uint8Array): ImageHead {
  const kind = SIGNATURES.find(([, signature]) => signature.every((byte, at) => bytes[at] === byte))?.[0] ?? "other";
  if (kind === "other" && hasPdf(bytes)) return { kind: "pdf", width: 0, height: 0 };
  const size = kind === "png" ? readPngSize(bytes) : kind === "jpeg" ? readJpegSize(bytes) : null;
  return { kind, width: size?.[0] ?? 0, height: size?.[1] ?? 0 };
}

/** Whether a PDF begins in the first kilobyte: what is before it is skipped by viewers. */
const hasPdf = (bytes: Uint8Array) => String.fromCharCode(...bytes.subarray(0, 1_024)).includes("%PDF-");

const view = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function readPngSize(bytes: Uint8Array): [number, number] | null {
  return bytes.length < 24 ? null : [view(bytes).getUint32(16), view(bytes).getUint32(20)];
}

/** Return the size in the frame header of a JPEG (ITU-T T.81, B.2.2), if these bytes have it. */
export function readJpegSize(bytes: Uint8Array): [number, number] | null {
  for (let at = 2; at + 9 < bytes.length;) {
    if (bytes[at] !== 0xff) return null;
    const marker = bytes[at + 1]!;
    if (marker === 0xff) at += 1;
    else if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return [view(bytes).getUint16(at + 7), view(bytes).getUint16(at + 5)];
    else at += marker >= 0xd0 && marker <= 0xd8 ? 2 : 2 + view(bytes).getUint16(at + 2);
  }
  return null;
}
