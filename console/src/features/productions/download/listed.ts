// What the API lists against what MANIFEST.csv lists: written as the manifest writes them, the files have its hash, so
// that a manifest of any length is compared line by line without being kept.
import type { VolumeFile } from "./files";
import { Sha256 } from "./sha256";

/** The files that a manifest does not list: itself, and its hash. */
export const OWN: ReadonlySet<string> = new Set(["MANIFEST.csv", "MANIFEST.sha256"]);
const [HEADER, LOAD_FILES] = ["Path,Size,SHA-256\r\n", "DATA/"];
const encoder = new TextEncoder();

/** The list of a volume, page after page. */
export class Listed {
  private readonly hash = new Sha256();
  /** The first page has the last lines. */
  private end = "";

  constructor() {
    this.hash.add(encoder.encode(HEADER));
  }

  add(files: readonly VolumeFile[], isFirst: boolean): void {
    const [lines, last]: [string[], string[]] = [[], []];
    for (const file of files)
      if (!OWN.has(file.path)) (isFirst && file.path.startsWith(LOAD_FILES) ? last : lines).push(format(file));
    this.hash.add(encoder.encode(lines.join("")));
    this.end += last.join("");
  }

  /** Return the hash of the manifest that lists the files, and no others. */
  finish(): string {
    this.hash.add(encoder.encode(this.end));
    return this.hash.finish();
  }
}

/** No path of a volume has a comma. */
const format = ({ path, size, sha256 }: VolumeFile) => `${path},${size},${sha256}\r\n`;
