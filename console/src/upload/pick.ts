// The files of a drop and of a file field, with their paths. Nothing of a file is read here.
import { findSystemKind } from "./load_files";
import { groupThings } from "./things";
import type { Picked, PickedFile } from "./types";

type Found = (files: number) => void;

// So many entries are looked at before the page may draw.
const TURN = 500;

/** Collect what was dropped. Call it in the event: afterwards the browser has taken the entries back. */
export async function collectDrop(data: DataTransfer, onFound: Found = () => undefined): Promise<Picked> {
  const items = [...data.items].filter((item) => item.kind === "file");
  // Some sources of a drop give files without entries: they have no folder.
  const found = items.map((item) => item.webkitGetAsEntry() ?? item.getAsFile());
  const dropped = found.filter((each) => each !== null);
  if (dropped.length < found.length)
    throw new Error("A part of what was dropped cannot be read. Choose it by a button.");
  return dropped.length ? collectDropped(dropped, onFound) : collectInput([...data.files], onFound);
}

/** Collect what a file field has; a folder's files have their path. */
export async function collectInput(files: Iterable<File>, onFound: Found = () => undefined): Promise<Picked> {
  const collection = new Collection(onFound);
  for (const file of files) {
    collection.add(file.webkitRelativePath || file.name, file);
    if (collection.seen % TURN === 0) await nextTurn();
  }
  return collection.finish();
}

async function collectDropped(dropped: (FileSystemEntry | File)[], onFound: Found): Promise<Picked> {
  const [collection, left] = [new Collection(onFound), dropped.reverse()];
  for (let entry = left.pop(); entry; entry = left.pop()) {
    if (entry instanceof File) collection.add(entry.name, entry);
    else if (entry.isDirectory) await collectFolder(entry as FileSystemDirectoryEntry, collection, left);
    else collection.add(getPath(entry), await getFile(entry as FileSystemFileEntry));
  }
  return collection.finish();
}

/** Add the files of a folder, and its folders to those that are left. A call returns at most 100 entries. */
async function collectFolder(folder: FileSystemDirectoryEntry, to: Collection, left: unknown[]): Promise<void> {
  const reader = folder.createReader();
  for (;;) {
    const batch = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, () => reject(new Error(`The folder ${getPath(folder)} cannot be read.`))),
    );
    if (!batch.length) return;
    left.push(...batch.filter((entry) => entry.isDirectory));
    const entries = batch.filter((entry): entry is FileSystemFileEntry => entry.isFile);
    const files = await Promise.all(entries.map(getFile));
    entries.forEach((entry, at) => to.add(getPath(entry), files[at]!));
  }
}

class Collection {
  seen = 0;
  private readonly files = new Map<string, PickedFile>();
  private readonly leftOut: Record<string, number> = {};

  constructor(private readonly onFound: Found) {}

  add(path: string, file: File): void {
    this.seen += 1;
    const system = findSystemKind(path);
    if (system) this.leftOut[system] = (this.leftOut[system] ?? 0) + 1;
    // They come from two places, and one of them would be missing in the volume.
    else if (this.files.has(path)) throw new Error(`Two files have the path ${path}. Choose their folders one by one.`);
    else this.files.set(path, { path, size: file.size, file });
    if (this.seen % TURN === 0) this.onFound(this.files.size);
  }

  finish(): Picked {
    const files = [...this.files.values()].sort((one, other) => (one.path < other.path ? -1 : 1));
    this.onFound(files.length);
    const bytes = files.reduce((sum, file) => sum + file.size, 0);
    const things = files.length ? groupThings(files) : [];
    return { things, files: files.length, bytes, leftOut: this.leftOut };
  }
}

const getPath = (entry: FileSystemEntry) => entry.fullPath.replace(/^\//, "");

const getFile = (entry: FileSystemFileEntry) =>
  new Promise<File>((resolve, reject) =>
    entry.file(resolve, () => reject(new Error(`The file ${getPath(entry)} cannot be read.`))),
  );

const nextTurn = () => new Promise((resolve) => setTimeout(resolve));
