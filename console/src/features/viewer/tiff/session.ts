import { decodePage, type Page } from "./decode";
import { Directories } from "./directories";
import { FileFault } from "./faults";
import type { DecodedPage, FromWorker, ToWorker } from "./protocol";
import { BlockSource, type Fetching } from "./source";

type Post<Image> = (message: Exclude<FromWorker, { kind: "page" }> | PageMessage<Image>) => void;
type PageMessage<Image> = { kind: "page"; id: number } & DecodedPage<Image>;
type Fetch = (url: string, start: number, length: number, signal: AbortSignal) => ReturnType<Fetching>;

/** Files whose pages are counted, although that takes reading the whole of them. */
const COUNTED_BYTES = 4_000_000;

/** What the worker does: it opens files, one at a time, and decodes the pages that it is asked for, and no others. */
export class Session<Image> {
  readonly #running = new Map<number, AbortController>();
  #open: { file: string; source: BlockSource; directories: Directories } | null = null;

  constructor(
    private readonly fetchBytes: Fetch,
    private readonly toImage: (page: Page) => Promise<Image>,
    private readonly post: Post<Image>,
  ) {}

  /** Carry out a request; never throws. */
  async handle(request: ToWorker): Promise<void> {
    if (request.kind === "cancel") return this.#running.get(request.id)?.abort();
    const ends = new AbortController();
    this.#running.set(request.id, ends);
    try {
      const page = await this.#load(request, ends.signal);
      if (!ends.signal.aborted) this.post({ kind: "page", id: request.id, ...page });
    } catch (error) {
      if (!ends.signal.aborted) this.post({ kind: "fault", id: request.id, ...explain(error) });
    } finally {
      this.#running.delete(request.id);
    }
  }

  async #load(request: ToWorker & { kind: "page" }, signal: AbortSignal): Promise<DecodedPage<Image>> {
    const { id, file, url } = request;
    let bytes = 0;
    const fetching: Fetching = async (start, length) => {
      signal.throwIfAborted();
      const found = await this.fetchBytes(url, start, length, signal);
      bytes += found.bytes.length;
      this.post({ kind: "progress", id, bytes });
      return found;
    };
    const { source, directories } = await this.#find(file, fetching);
    const page = await decodePage(source, await directories.readPage(request.page), signal);
    if (source.size <= COUNTED_BYTES) await directories.countPages();
    const { width, height, turn, pixelHeight } = page;
    const { count: pages, known } = directories;
    const { size, fetched } = source;
    return { image: await this.toImage(page), width, height, turn, pixelHeight, pages, known, fetched, size };
  }

  /** Return the file, with the blocks and the places of pages that are known, read by this request from now on. */
  async #find(file: string, fetching: Fetching) {
    const known = this.#open?.file === file ? this.#open : null;
    const source = known ? known.source.renew(fetching) : await BlockSource.open(fetching);
    const directories = known ? known.directories.from(source) : await Directories.open(source);
    return (this.#open = { file, source, directories });
  }
}

function explain(error: unknown): { code: FileFault["code"]; detail: string } {
  if (error instanceof FileFault) return { code: error.code, detail: error.message };
  if (error instanceof RangeError) return { code: "too-large", detail: "The page needs more memory than there is." };
  return { code: "broken", detail: "It could not be decoded." };
}
