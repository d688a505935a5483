// Sends the files of a folder into a volume: declares some hundred at a time, in the order of their paths, and sends
// those that the bucket does not have. Small files are declared with their SHA-256, so that S3 accepts no other bytes.
import { ApiError } from "../api/client";
import { FileChangedFault, UploadFault } from "./faults";
import { ObjectUpload } from "./object_upload";
import type { Context, Task } from "./tasks";
import type { FileUploads, FolderTarget, NewVolumeFile, PickedFile } from "./types";
import { fileSource } from "./sources";

interface Batch {
  files: PickedFile[];
  key: string;
  /** What was sent with the key, which has to be the same when it is sent again. */
  body: NewVolumeFile[] | null;
}

const MOST_FILES = 250;
const HASHED_AT_ONCE = 6;
// As the API divides files: from this size on in parts, of which a request may have a thousand.
const MIN_BYTES_IN_PARTS = 10_000_000;
const [MIN_PART_BYTES, PART_BYTES, FEW_PARTS, MAX_PARTS] = [16_000_000, 100_000_000, 256, 1_000];

/** Return the first task, which adds the others. */
export function declareFolder(files: PickedFile[], target: FolderTarget): Task {
  const sorted = [...files].sort((one, other) => (one.path < other.path ? -1 : 1));
  return makeBatchTask(divide(sorted), target);
}

function makeBatchTask([batch, ...later]: Batch[], target: FolderTarget): Task {
  const { files } = batch!;
  const run = async (context: Context) => {
    batch!.body ??= await describeReadable(batch!, target, context);
    const declared = batch!.body.length ? await declare(batch!, target) : { items: [] };
    if (!declared) {
      const parts = [...halve(batch!).map((each) => [each]), later].filter((each) => each.length);
      return context.add(parts.map((each) => makeBatchTask(each, target)));
    }
    const rest = batch!.files.slice(declared.items.length);
    const next = rest.length ? [makeBatch(rest), ...later] : later;
    const tasks = declared.items.map((item, at) => makeFileTask(batch!.files[at]!, item, target, context));
    // The next files are declared when these are nearly sent, so that their URLs are new.
    context.add([...tasks, ...(next.length ? [makeBatchTask(next, target)] : [])]);
  };
  return { path: files.length === 1 ? files[0]!.path : "", files: 0, bytes: 0, run };
}

/** Declare the files; null if one of several is refused, such as for its name: each half then shows whether it has it. */
async function declare({ body, key }: Batch, target: FolderTarget) {
  try {
    return await target.declare(body!, key);
  } catch (error) {
    if (error instanceof ApiError && error.status === 400 && body!.length > 1) return null;
    throw error;
  }
}

function halve({ files, body }: Batch): Batch[] {
  const middle = files.length >> 1;
  const [first, second] = [makeBatch(files.slice(0, middle)), makeBatch(files.slice(middle))];
  return [
    { ...first, body: body!.slice(0, middle) },
    { ...second, body: body!.slice(middle) },
  ];
}

/** Describe the files; one that cannot be read becomes a task of its own, which keeps no other one from being sent. */
async function describeReadable(batch: Batch, target: FolderTarget, context: Context): Promise<NewVolumeFile[]> {
  const described = await describeFiles(batch.files);
  const lost = batch.files.filter((_, at) => !described[at]);
  if (lost.length && batch.files.length === 1) throw new FileChangedFault(lost[0]!.path);
  context.add(lost.map((file) => makeBatchTask([makeBatch([file])], target)));
  batch.files = batch.files.filter((_, at) => described[at]);
  return described.filter((each) => each !== null);
}

function makeFileTask(
  file: PickedFile,
  item: FileUploads["items"][number],
  target: FolderTarget,
  context: Context,
): Task {
  if (item.path !== file.path) throw new UploadFault("final", "UNEXPECTED", "The server declared other files.");
  // A small file was declared with its SHA-256, and the server refuses another one.
  if (item.stored && file.size < MIN_BYTES_IN_PARTS) {
    context.countThere();
    return { path: file.path, files: 1, bytes: file.size, run: async () => undefined };
  }
  const own = { urls: item.stored ? null : item.upload, getState: () => target.getState(file.path) };
  return new ObjectUpload(file.path, fileSource(file.file, file.path), own).begin(context.environment);
}

async function describeFiles(files: PickedFile[]): Promise<(NewVolumeFile | null)[]> {
  const described: (NewVolumeFile | null)[] = [];
  for (let at = 0; at < files.length; at += HASHED_AT_ONCE)
    described.push(...(await Promise.all(files.slice(at, at + HASHED_AT_ONCE).map(describeFile))));
  return described;
}

/** Return what is declared of a file; null if it cannot be read. */
async function describeFile({ path, size, file }: PickedFile): Promise<NewVolumeFile | null> {
  if (size >= MIN_BYTES_IN_PARTS) return { path, size, inParts: true };
  const bytes = await file.arrayBuffer().catch(() => null);
  if (!bytes) return null;
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return { path, size, sha256: [...hash].map((byte) => byte.toString(16).padStart(2, "0")).join("") };
}

/** Divide files into batches of at most 250 files and 1,000 URLs. */
function divide(files: PickedFile[]): Batch[] {
  const batches: Batch[] = [];
  let urls = 0;
  for (const file of files) {
    const [last, parts] = [batches.at(-1), countUrls(file.size)];
    urls += parts;
    if (last && last.files.length < MOST_FILES && urls <= MAX_PARTS) last.files.push(file);
    else [batches[batches.length], urls] = [makeBatch([file]), parts];
  }
  return batches;
}

const makeBatch = (files: PickedFile[]): Batch => ({ files, key: crypto.randomUUID(), body: null });

function countUrls(size: number): number {
  if (size < MIN_BYTES_IN_PARTS) return 1;
  const small = Math.min(Math.max(MIN_PART_BYTES, Math.ceil(size / FEW_PARTS)), PART_BYTES);
  return Math.ceil(size / Math.max(small, Math.ceil(size / MAX_PARTS)));
}
