// Begins uploads, and keeps them while the user walks through the console. A tab with something left to send asks
// before it is closed.
import { browser, type Environment } from "./environment";
import { findFault, UploadFault } from "./faults";
import { declareFolder } from "./folder_upload";
import { ObjectUpload } from "./object_upload";
import { Queue } from "./queue";
import type { Task } from "./tasks";
import { summarize } from "./things";
import type { FolderTarget, PickedFile, Source, Target, Transfer, TransferStatus, UploadUrls } from "./types";

const UNFINISHED = new Set<TransferStatus>(["moving", "paused", "offline", "signed-out"]);
const unfinished = new Set<Transfer>();
const kept = new Map<string, Transfer>();

/** Send a load file, a zip or a folder that is packed. */
export function uploadSource(source: Source, target: Target, environment: Environment = browser): Transfer {
  const path = source.files.length === 1 ? source.files[0]!.path : "";
  return begin(source.files, source.size, new ObjectUpload(path, source, target).begin(environment), environment);
}

/** Send the files of a folder, one by one: up to 2,000. */
export function uploadFolder(files: PickedFile[], target: FolderTarget, environment: Environment = browser): Transfer {
  const bytes = files.reduce((sum, file) => sum + file.size, 0);
  return begin(files, bytes, declareFolder(files, target), environment);
}

/** Send the beginning of a file, of which a preview is made. Throws UploadFault, or DOMException if it is stopped. */
export async function sendBeginning(
  file: Blob,
  preview: { bytes: number; upload: UploadUrls },
  signal: AbortSignal = new AbortController().signal,
  { send }: Pick<Environment, "send"> = browser,
): Promise<void> {
  const { url, headers } = preview.upload;
  if (!url) throw new UploadFault("final", "UNEXPECTED", "The server gave no address for the beginning of the file.");
  const answer = await send("PUT", url, file.slice(0, preview.bytes), headers, () => undefined, signal);
  const fault = answer.status === 412 ? null : findFault(answer, file instanceof File ? file.name : "The file");
  if (fault) throw fault;
}

/** Keep an upload under a name such as `import:12`. A reload of the page loses it. */
export const keepTransfer = (key: string, transfer: Transfer): void => void kept.set(key, transfer);
export const getTransfer = (key: string): Transfer | undefined => kept.get(key);
export const forgetTransfer = (key: string): void => void kept.delete(key);

function begin(
  files: { path: string; size: number }[],
  bytes: number,
  first: Task,
  environment: Environment,
): Transfer {
  const queue = new Queue({ files: files.length, bytes, ...summarize(files), tasks: [first] }, environment);
  guard(queue, environment);
  return queue;
}

/** Ask before the page is left as long as any upload has something left to send. */
function guard(transfer: Transfer, environment: Environment): void {
  transfer.subscribe(() => {
    if (UNFINISHED.has(transfer.getSnapshot().status)) unfinished.add(transfer);
    else unfinished.delete(transfer);
    environment.guardPage(unfinished.size > 0);
  });
}
