// What was chosen, as things to import: load files, volumes, zips. Several volumes are told apart by the rules of the
// command (exhibit_ingest.volumes.volume_folders): a folder with a load file in its root or in DATA/ is one.
import { findKind, findLoadFiles, findPlace, getName, getTop, isPartOfVolume } from "./load_files";
import type { FolderCount, PickedFile, Thing } from "./types";

type Sized = Pick<PickedFile, "path" | "size">;

const LARGEST = 10;
const MOST_FOLDERS = 50;

export function groupThings(files: PickedFile[]): Thing[] {
  const inner = enterSingleFolder(files);
  if (inner && findVolumes(inner).size > 1) return split(inner);
  return split(files);
}

export const findFile = (thing: Thing, path: string): File | undefined =>
  thing.files.find((each) => each.path === path)?.file;

/** Count by folder, of at most 50 folders, as deep as that allows; and list the ten largest files. */
export function summarize(files: Sized[]): { folders: FolderCount[]; largest: Sized[] } {
  let folders = countFolders(files, 1);
  for (let depth = 2; depth <= 3; depth++) {
    const deeper = countFolders(files, depth);
    if (deeper.length > MOST_FOLDERS) break;
    folders = deeper;
  }
  const largest: Sized[] = [];
  for (const file of files) {
    if (largest.length === LARGEST && file.size <= largest[LARGEST - 1]!.size) continue;
    const at = largest.findIndex((each) => each.size < file.size);
    largest.splice(at < 0 ? largest.length : at, 0, file);
    largest.length = Math.min(largest.length, LARGEST);
  }
  return { folders, largest };
}

function countFolders(files: Sized[], depth: number): FolderCount[] {
  const counts = new Map<string, FolderCount>();
  for (const { path, size } of files) {
    const folder = path.split("/").slice(0, -1).slice(0, depth).join("/");
    const count = counts.get(folder) ?? { folder, files: 0, bytes: 0 };
    counts.set(folder, { folder, files: count.files + 1, bytes: count.bytes + size });
  }
  return [...counts.values()].sort((one, other) => (one.folder < other.folder ? -1 : 1));
}

/** Return the files with their paths below the only folder; null if there are other folders or files. */
function enterSingleFolder(files: PickedFile[]): PickedFile[] | null {
  const tops = new Set(files.map((file) => getTop(file.path)));
  const [top] = tops;
  if (!top || tops.size > 1) return null;
  return files.map((file) => ({ ...file, path: file.path.slice(top.length + 1) }));
}

function findVolumes(files: PickedFile[]): Set<string> {
  const volumes = new Set<string>();
  for (const { path } of files) {
    const top = getTop(path);
    if (isZip(path)) volumes.add(path);
    else if (top ? isPartOfVolume(top) : findPlace(path) === 0) return new Set();
    else if (top && (findPlace(path.slice(top.length + 1)) ?? 2) <= 1) volumes.add(top);
  }
  return volumes;
}

function split(files: PickedFile[]): Thing[] {
  const zips = files
    .filter((file) => isZip(file.path))
    .map((file) => makeThing("zip", file.path, [file]))
    .sort(byName);
  const others = files.filter((file) => !isZip(file.path));
  const loose = others.filter((file) => !file.path.includes("/"));
  const volumes = findVolumes(others);
  if (others.length > 0 && loose.length === others.length) return [...groupLoose(loose), ...zips];
  if (volumes.size < 2) return others.length ? [makeThing("volume", nameVolume(others), others), ...zips] : zips;
  const folders = Map.groupBy(others, (file) => getTop(file.path));
  folders.delete("");
  const things = [...folders].map(([top, each]) => makeThing("volume", top, each));
  return [...things.sort(byName), ...zips, ...loose.map((file) => makeThing("other", file.path, [file]))];
}

function groupLoose(files: PickedFile[]): Thing[] {
  const kinds = files.map((file) => findKind(file.path));
  const tables = files.filter((_, at) => kinds[at] === "table");
  const main = tables.length ? tables : files.filter((_, at) => kinds[at] !== null);
  const isAlone = !main.length || files.length === 1 || kinds.every((kind) => kind === "table" || kind === "note");
  if (!isAlone) return [makeThing("volume", nameVolume(files), files)];
  return files.map((file) => makeThing(main.includes(file) ? "load-file" : "other", file.path, [file]));
}

function makeThing(kind: Thing["kind"], name: string, files: PickedFile[]): Thing {
  const bytes = files.reduce((sum, file) => sum + file.size, 0);
  return { kind, name, files, bytes, ...findLoadFiles(files.map((file) => file.path)) };
}

/** Return the name of the only folder, else that of a load file, else of all folders and files. */
function nameVolume(files: PickedFile[]): string {
  const tops = new Set(files.map((file) => getTop(file.path)));
  const [top] = tops;
  if (tops.size === 1 && top) return top;
  const { loadFiles, imageLoadFiles } = findLoadFiles(files.map((file) => file.path));
  const first = loadFiles[0] ?? imageLoadFiles[0];
  return first ? getName(first).replace(/\.[^.]*$/, "") : nameSome(files);
}

function nameSome(files: PickedFile[]): string {
  const names = [...new Set(files.map((file) => getTop(file.path) || file.path))];
  return names.length > 1 ? `${names[0]} and ${names.length - 1} more` : (names[0] ?? "");
}

const isZip = (path: string) => !path.includes("/") && path.toLowerCase().endsWith(".zip");

const order = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
const byName = (one: Thing, other: Thing) => order.compare(one.name, other.name);
