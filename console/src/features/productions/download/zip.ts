// A volume as one zip, made while its files arrive. It is saved only when every file is in it with the bytes of its hash.
import { crc32, StoredZip } from "../../../upload";
import { FileFault, receive, SMALL, stream, type VolumeFile } from "./files";
import { splitPath } from "./paths";
import type { Result, Target } from "./target";

type Bytes = Uint8Array<ArrayBuffer>;

/** Where the bytes of a zip go. What was written after a place can be taken back. */
export interface Sink {
  readonly place: string;
  write(at: number, bytes: Bytes): Promise<void>;
  close(): Promise<void>;
  abandon(): Promise<void>;
}

export class ZipTarget implements Target {
  readonly place: string;
  private readonly zip = new StoredZip();
  /** Entries stand one after the other; small files arrive at the same time nevertheless. */
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly sink: Sink,
    private readonly volume: string,
  ) {
    this.place = sink.place;
  }

  admit = async (): Promise<void> => undefined;

  async put(file: VolumeFile, signal: AbortSignal, onBytes: (count: number) => void): Promise<Result> {
    if (!splitPath(file.path) || !splitPath(this.volume))
      throw new FileFault("Its path could lead out of the folder of the volume.");
    const bytes = file.size <= SMALL ? await receive(file, signal, onBytes) : null;
    const turn = this.last.then(() => this.append(file, bytes, signal, onBytes));
    this.last = turn.catch(() => undefined);
    await turn;
    return "written";
  }

  async finish(): Promise<void> {
    await this.sink.write(this.zip.at, this.zip.finish());
    await this.sink.close();
  }

  abandon = (): Promise<void> => this.sink.abandon();

  private async append(file: VolumeFile, bytes: Bytes | null, signal: AbortSignal, onBytes: (count: number) => void) {
    const entry = { path: `${this.volume}/${file.path}`, size: file.size };
    const header = this.zip.begin(entry);
    let [at, crc] = [this.zip.at, 0];
    const write = async (chunk: Bytes) => {
      await this.sink.write(at, chunk);
      at += chunk.length;
    };
    await write(header);
    if (bytes) {
      crc = crc32(bytes);
      await write(bytes);
    } else
      await stream(file, signal, async (chunk) => {
        crc = crc32(chunk, crc);
        await write(chunk);
        onBytes(chunk.length);
      });
    await write(this.zip.accept(entry, crc));
  }
}

/** A file that the user has named: bytes go to the disk as they arrive, and it is there when it is closed. */
export async function openFileSink(handle: FileSystemFileHandle): Promise<Sink> {
  const writable = await handle.createWritable();
  return {
    place: handle.name,
    write: (at, bytes) => writable.write({ type: "write", position: at, data: bytes }),
    close: () => writable.close(),
    abandon: () => writable.abort(),
  };
}

/** The memory of the page; `save` gets the whole when it is complete. */
export function openMemorySink(name: string, save: (zip: Blob) => void): Sink {
  let pieces: { at: number; blob: Blob }[] = [];
  return {
    place: name,
    write: async (at, bytes) => {
      while (pieces.length && pieces.at(-1)!.at >= at) pieces.pop();
      pieces.push({ at, blob: new Blob([bytes]) });
    },
    close: async () => {
      save(
        new Blob(
          pieces.map((each) => each.blob),
          { type: "application/zip" },
        ),
      );
      pieces = [];
    },
    abandon: async () => void (pieces = []),
  };
}
