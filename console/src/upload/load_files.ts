// Which files of a volume can be its load files: the rules of the server (core.volumes.discovery), so that the page says
// before the upload what the import will find after it. The server decides.

type Kind = "table" | "note" | "images";

// Maps: in an object, a file called `constructor` would be found, and left out.
const KINDS = new Map<string, Kind>([
  ["dat", "table"],
  ["csv", "table"],
  ["txt", "note"],
  ["opt", "images"],
  ["lfp", "images"],
]);
const PARTS = new Set(["data", "natives", "native", "text", "texts", "ocr", "images", "image", "img"]);
const SYSTEM_FILES = new Map([".DS_Store", "Thumbs.db", "desktop.ini"].map((name) => [name.toLowerCase(), name]));
const MAC_FOLDER = "__MACOSX/";

export const getName = (path: string) => path.slice(path.lastIndexOf("/") + 1);
export const getTop = (path: string) => path.slice(0, Math.max(path.indexOf("/"), 0));

/** Return what a file is that systems add and no volume needs, such as `Thumbs.db`; null for other files. */
export function findSystemKind(path: string): string | null {
  // Beside or in the folder that was chosen; deeper it may be evidence, and the server keeps it.
  if (path.startsWith(MAC_FOLDER) || path.slice(path.indexOf("/") + 1).startsWith(MAC_FOLDER)) return MAC_FOLDER;
  return SYSTEM_FILES.get(getName(path).toLowerCase()) ?? null;
}

/** Return what a load file of this name lists; a note may be one, if there is no other. null for other files. */
export function findKind(name: string): Kind | null {
  if (name.toLowerCase() === "manifest.csv") return "note";
  const dot = name.lastIndexOf(".");
  return dot > 0 && !name.startsWith("._") ? (KINDS.get(name.slice(dot + 1).toLowerCase()) ?? null) : null;
}

/** Return how many folders the place of a load file is below: 0 for the root and `DATA/`; null for other files. */
export function findPlace(path: string): number | null {
  const kind = findKind(getName(path));
  return kind === null || kind === "note" ? null : measureDepth(path);
}

export const isPartOfVolume = (folder: string) => PARTS.has(folder.toLowerCase());

/** Return the paths of the load files of a volume, as the server finds them without a choice. */
export function findLoadFiles(paths: string[]): { loadFiles: string[]; imageLoadFiles: string[] } {
  const hasTop = findTopFolder(paths) !== null;
  const below: [Record<Kind, string[]>, Record<Kind, string[]>] = [makeLists(), makeLists()];
  for (const path of paths) {
    const [kind, depth] = [findKind(getName(path)), measureDepth(path)];
    if (kind && (depth === 0 || (depth === 1 && hasTop))) below[depth][kind].push(path);
  }
  const [root, top] = below;
  const nested = top.table.length ? top.table : top.note;
  const loadFiles = root.table.length ? root.table : [...root.note, ...nested];
  return { loadFiles: loadFiles.sort(), imageLoadFiles: [...root.images, ...top.images].sort() };
}

/** Return the only folder of the root, unless it is a part of the volume. */
function findTopFolder(paths: string[]): string | null {
  const tops = new Set(paths.map(getTop));
  const loose = tops.delete("") ? paths.filter((path) => !path.includes("/")).length : 0;
  const [top] = tops;
  return top !== undefined && tops.size === 1 && !isPartOfVolume(top) && loose * 2 <= paths.length ? top : null;
}

function measureDepth(path: string): number {
  const folders = path.split("/").slice(0, -1);
  return folders.length - (folders.at(-1)?.toLowerCase() === "data" ? 1 : 0);
}

const makeLists = (): Record<Kind, string[]> => ({ table: [], note: [], images: [] });
