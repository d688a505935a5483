// From what was chosen to bytes on their way: drafts are announced here, and uploads begun and continued.
import {
  MAX_SINGLE_FILES,
  archiveTarget,
  fileSource,
  findFile,
  folderTarget,
  forgetTransfer,
  getTransfer,
  importTarget,
  keepTransfer,
  packFiles,
  sendBeginning,
  uploadFolder,
  uploadSource,
  type Thing,
  type Transfer,
} from "../../upload";
import { getKept, keep, listKept, moveKept, NEW, type Kept } from "./kept";
import { stamp } from "./options";
import type { Draft } from "./queries";
import { announceImport, announcePreview, cancelImport, createVolume } from "./requests";

export const isVolume = (thing: Thing) => thing.kind === "volume" || thing.kind === "zip";

/** The file with the rows, as far as it can be read in this window: not that of a zip. */
export function findRows(thing: Thing | null, loadFile: string | null): { path: string; file: File } | null {
  if (!thing || thing.kind === "zip") return null;
  if (!isVolume(thing)) return thing.files[0] ? { path: thing.name, file: thing.files[0].file } : null;
  const path = loadFile ?? (thing.loadFiles.length === 1 ? thing.loadFiles[0]! : null);
  const file = path === null ? undefined : findFile(thing, path);
  return path !== null && file ? { path, file } : null;
}

const previewed = new Set<File>();

/**
 * Send the first bytes of the file with the rows, of which previews are made while the rest is on its way.
 *
 * Does nothing while that is under way already. The draft may get its place on the server meanwhile: the preview, or
 * why there is none, belongs to each draft with this file.
 */
export async function beginPreview(caseName: string, rows: { path: string; file: File }): Promise<void> {
  const { path, file } = rows;
  if (previewed.has(file)) return;
  previewed.add(file);
  try {
    const preview = await announcePreview(caseName, file, crypto.randomUUID());
    await sendBeginning(file, preview);
    keepOf(file, { preview: { id: preview.id, path }, previewFault: null });
  } catch (fault) {
    keepOf(file, { previewFault: fault });
  } finally {
    previewed.delete(file);
  }
}

function keepOf(file: File, changes: Partial<Kept>): void {
  for (const [place, kept] of listKept()) if (findRows(kept.thing, kept.loadFile)?.file === file) keep(place, changes);
}

const keys = new WeakMap<Thing, Map<string, string>>();

/** The key of a draft: the same one if the same is announced again, because the first response was lost. */
function findKey(thing: Thing, caseName: string): string {
  const decided = stamp(getKept(NEW).options ?? {}, caseName);
  const known = keys.get(thing) ?? new Map<string, string>();
  keys.set(thing, known.set(decided, known.get(decided) ?? crypto.randomUUID()));
  return known.get(decided)!;
}

const begun = new Map<string, Promise<string>>();

/**
 * Announce what was chosen in a case that exists, and begin to send it. Return the path of the draft.
 *
 * While that is under way, as after the Back button, the same is not announced a second time.
 */
export function beginDraft(thing: Thing, caseName: string): Promise<string> {
  const key = findKey(thing, caseName);
  const path = begun.get(key) ?? announceDraft(thing, caseName, key).finally(() => begun.delete(key));
  begun.set(key, path);
  return path;
}

async function announceDraft(thing: Thing, caseName: string, key: string): Promise<string> {
  const [place, path] = isVolume(thing)
    ? await beginVolume(thing, caseName, key)
    : await beginImport(thing, caseName, key);
  keys.delete(thing);
  moveKept(NEW, place);
  return path;
}

async function beginImport(thing: Thing, caseName: string, key: string): Promise<[string, string]> {
  const { options, profile } = getKept(NEW);
  const file = thing.files[0]!.file;
  const announced = {
    caseName,
    fileName: thing.name,
    size: file.size,
    options: options ?? {},
    profile: profile ?? null,
  };
  const { id, upload } = await announceImport(announced, key);
  start(`import:${id}`, uploadSource(fileSource(file), importTarget(id, upload)));
  return [`import:${id}`, `/import/${id}`];
}

async function beginVolume(thing: Thing, caseName: string, key: string): Promise<[string, string]> {
  const source = archiveOf(thing);
  const name = thing.name.replace(/\.zip$/i, "");
  const archive = source && { fileName: `${name}.zip`, size: source.size };
  const { id, upload } = await createVolume(caseName, name, archive, key);
  const transfer = source
    ? uploadSource(source, archiveTarget(id, upload))
    : uploadFolder(thing.files, folderTarget(id));
  start(`volume:${id}`, transfer);
  return [`volume:${id}`, `/import/volume/${id}`];
}

/** A zip as it is, or many files as one; null for a folder whose files are sent one by one. */
function archiveOf(thing: Thing) {
  if (thing.kind === "zip") return fileSource(thing.files[0]!.file);
  return thing.files.length > MAX_SINGLE_FILES ? packFiles(thing.files) : null;
}

function start(place: string, transfer: Transfer): void {
  keepTransfer(place, transfer);
  transfer.start();
}

/** Go on with an upload after a reload: the same files were chosen again, and only what is missing is sent. */
export function continueUpload(draft: Draft, thing: Thing): void {
  const { place, volume, rows } = draft;
  const source = volume ? archiveOf(thing) : fileSource(thing.files[0]!.file);
  if (!volume) start(place, uploadSource(source!, importTarget(rows!.id, null)));
  else if (source) start(place, uploadSource(source, archiveTarget(volume.id, null)));
  else start(place, uploadFolder(thing.files, folderTarget(volume.id)));
}

/** Give up a draft: its bytes stop, and its imports are cancelled, of which nothing is in the case. */
export async function giveUp(draft: Draft, key: string): Promise<void> {
  getTransfer(draft.place)?.cancel();
  forgetTransfer(draft.place);
  for (const each of [...draft.images, draft.rows])
    if (each?.actions.includes("cancel")) await cancelImport(each.id, `${key} ${each.id}`);
}
