// Where the case of letters does not count, no file of a volume takes the place of another, as with the command.
import { VolumeFault } from "./files";

const PROBE = "exhibit-ingest letter case";

/** The paths of a volume in a folder. */
export class Places {
  // Of 100,000s of files, the hashes are enough.
  private readonly seen = new Set<number>();
  private ignoresCase: Promise<boolean> | null = null;

  constructor(private readonly folder: Promise<FileSystemDirectoryHandle>) {}

  /** Add paths that were not added yet. Throws VolumeFault, and adds none, if one has the place of another. */
  async add(paths: readonly string[]): Promise<void> {
    const added = new Set<number>();
    for (const path of paths) {
      const key = hash(fold(path));
      if ((this.seen.has(key) || added.has(key)) && (await this.readIgnoresCase()))
        throw new VolumeFault(
          `Two files of the volume have the path ${path.slice(0, 200)}, but for upper and lower case, which the disk of the folder does not tell apart. Choose a folder on another disk, or download the volume as a zip.`,
        );
      added.add(key);
    }
    for (const key of added) this.seen.add(key);
  }

  private readIgnoresCase(): Promise<boolean> {
    this.ignoresCase ??= this.folder.then(ignoresCase);
    this.ignoresCase.catch(() => (this.ignoresCase = null));
    return this.ignoresCase;
  }
}

/** What is equal for two paths that are one place where the case of letters does not count. */
export const fold = (path: string): string => path.normalize("NFC").toUpperCase().toLowerCase().normalize("NFC");

/** Return whether a file is found by its name in other letters: browsers do not say what disk a folder is on. */
async function ignoresCase(folder: FileSystemDirectoryHandle): Promise<boolean> {
  await folder.getFileHandle(PROBE, { create: true });
  try {
    await folder.getFileHandle(PROBE.toUpperCase());
    return true;
  } catch (error) {
    if (error instanceof DOMException && error.name === "NotFoundError") return false;
    throw error;
  } finally {
    await folder.removeEntry(PROBE).catch(() => undefined);
  }
}

/** Return 53 bits of a text (cyrb53): that any two of a million paths have the same ones has a chance of 1 in 18,000. */
function hash(text: string): number {
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    high = Math.imul(high ^ code, 2654435761);
    low = Math.imul(low ^ code, 1597334677);
  }
  const mix = (one: number, two: number) =>
    Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(two ^ (two >>> 13), 3266489909);
  [high, low] = [mix(high, low), mix(low, high)];
  return 4294967296 * (2097151 & low) + (high >>> 0);
}
