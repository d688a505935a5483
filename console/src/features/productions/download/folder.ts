// A volume in a folder of the user's machine. A file has its name only with the bytes of its hash; one that is there with
// other bytes is left alone until the user says that it is to be replaced.
import { digest, Sha256 } from "./sha256";
import { FileFault, receive, SMALL, stream, type VolumeFile } from "./files";
import { splitPath } from "./paths";
import { Places } from "./places";
import type { Result, Target } from "./target";

/** What of the File System Access API is used beside what the types of the DOM have. */
type Directory = FileSystemDirectoryHandle;

export class FolderTarget implements Target {
  readonly place: string;
  private readonly folders = new Map<string, Promise<Directory>>();
  private readonly places: Places;

  constructor(
    chosen: Directory,
    private readonly volume: string,
    /** The paths of files that may be replaced although they are other ones. */
    readonly replaced: Set<string> = new Set(),
  ) {
    this.place = `${chosen.name}/${volume}`;
    const folder = chosen.getDirectoryHandle(volume, { create: true });
    this.folders.set("", folder);
    this.places = new Places(folder);
  }

  admit = (paths: readonly string[]): Promise<void> => this.places.add(paths);

  async put(file: VolumeFile, signal: AbortSignal, onBytes: (count: number) => void): Promise<Result> {
    const split = splitPath(file.path);
    if (!split || !splitPath(this.volume)) throw new FileFault("Its path could lead out of the folder of the volume.");
    const [folders, name] = split;
    const folder = await this.openFolder(folders);
    const there = await find(folder, name);
    if (there) {
      if (await hasBytes(there, file, signal)) return "there";
      // What has no bytes is what an interrupted download leaves.
      if (there.size > 0 && !this.replaced.has(file.path)) return "other";
    }
    await write(folder, name, file, signal, onBytes, there !== null);
    return "written";
  }

  finish = async (): Promise<void> => undefined;
  abandon = async (): Promise<void> => undefined;

  private openFolder(parts: string[]): Promise<Directory> {
    const path = parts.join("/");
    let opened = this.folders.get(path);
    if (!opened) {
      opened = this.openFolder(parts.slice(0, -1)).then((parent) =>
        parent.getDirectoryHandle(parts.at(-1)!, { create: true }),
      );
      this.folders.set(path, opened);
      opened.catch(() => this.folders.delete(path));
    }
    return opened;
  }
}

/** Return what the folder has under the name; null if nothing. */
async function find(folder: Directory, name: string): Promise<File | null> {
  try {
    return await (await folder.getFileHandle(name)).getFile();
  } catch (error) {
    if (error instanceof DOMException && error.name === "NotFoundError") return null;
    throw error;
  }
}

async function hasBytes(there: File, file: VolumeFile, signal: AbortSignal): Promise<boolean> {
  if (there.size !== file.size) return false;
  if (there.size <= SMALL) return (await digest(new Uint8Array(await there.arrayBuffer()))) === file.sha256;
  const hash = new Sha256();
  const reader = there.stream().getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    signal.throwIfAborted();
    hash.add(read.value);
  }
  return hash.finish() === file.sha256;
}

async function write(
  folder: Directory,
  name: string,
  file: VolumeFile,
  signal: AbortSignal,
  onBytes: (count: number) => void,
  wasThere: boolean,
): Promise<void> {
  // A small file is created when its bytes are there, so that an interruption leaves few empty ones.
  const bytes = file.size <= SMALL ? await receive(file, signal, onBytes) : null;
  const handle = await folder.getFileHandle(name, { create: true });
  const writable = await handle.createWritable();
  try {
    if (bytes) await writable.write(bytes);
    else
      await stream(file, signal, async (chunk) => {
        await writable.write(chunk);
        onBytes(chunk.length);
      });
    await writable.close();
  } catch (error) {
    await writable.abort().catch(() => undefined);
    if (!wasThere) await folder.removeEntry(name).catch(() => undefined);
    throw error;
  }
}
