// What the pages see of uploads. Sizes are bytes.
import type { Schemas } from "../api/client";

export type UploadUrls = Schemas["UploadUrls"];
export type UploadState = Schemas["UploadState"];
export type NewVolumeFile = Schemas["NewVolumeFile"];
export type FileUploads = Schemas["FileUploads"];

/** A file with its path below what was chosen, with slashes: `VOL001/DATA/VOL001.dat`. */
export interface PickedFile {
  path: string;
  size: number;
  file: File;
}

/**
 * Something that was dropped or chosen: a load file alone, the files of a volume, a zip, or a file that is none of
 * these. `loadFiles` (DAT, CSV, TXT) and `imageLoadFiles` (OPT, LFP) are the paths of those at the places where the
 * server looks for them. TXT files and MANIFEST.csv count where there is no other, as on the server.
 */
export interface Thing {
  kind: "load-file" | "volume" | "zip" | "other";
  name: string;
  files: PickedFile[];
  bytes: number;
  loadFiles: string[];
  imageLoadFiles: string[];
}

/** What was chosen at once. `leftOut` counts the files that systems add, by kind. */
export interface Picked {
  things: Thing[];
  files: number;
  bytes: number;
  leftOut: Record<string, number>;
}

export type TransferStatus =
  "waiting" | "moving" | "paused" | "offline" | "signed-out" | "done" | "failed" | "cancelled";

/** Why a file was not sent. `advice` says what to do; `code` is that of S3 or of the API, or `FILE_CHANGED`. */
export interface Failure {
  path: string;
  code: string;
  message: string;
  advice: string;
}

export interface FolderCount {
  folder: string;
  files: number;
  bytes: number;
}

/** An upload as it is now. A new object for every change, so that `useSyncExternalStore` can compare it. */
export interface TransferSnapshot {
  status: TransferStatus;
  files: { done: number; all: number };
  bytes: { done: number; all: number };
  /** null until it can be estimated, and while nothing moves. */
  secondsLeft: number | null;
  /** Requests that were sent again after a fault. */
  retries: number;
  /** Files and parts that the bucket had before. */
  alreadyThere: number;
  /** Of these, those that are known by their size alone: the storage has no checksum of them. */
  knownBySize: number;
  failures: Failure[];
  folders: FolderCount[];
  largest: { path: string; size: number }[];
}

/** An upload. It begins with `start`; `retry` sends what failed again. Cancelling deletes nothing on the server. */
export interface Transfer {
  subscribe(listener: () => void): () => void;
  getSnapshot(): TransferSnapshot;
  start(): void;
  pause(): void;
  resume(): void;
  cancel(): void;
  retry(): void;
}

/**
 * Where one object goes. `urls` are those of the announcement; null after a reload, when `getState` says what is left.
 * `getState` also renews URLs that have expired.
 */
export interface Target {
  urls: UploadUrls | null;
  getState(): Promise<UploadState>;
}

/** Where the files of a folder go. `declare` gets the same key again for the same files. */
export interface FolderTarget {
  declare(files: NewVolumeFile[], key: string): Promise<FileUploads>;
  getState(path: string): Promise<UploadState>;
}

/** Bytes to send: a file, or an archive that is made while it is sent. */
export interface Source {
  size: number;
  /** The files in it, in the order of their bytes. */
  files: { path: string; size: number }[];
  /** Where the bytes of each file end. */
  ends: ArrayLike<number>;
  /** The bytes from `from` up to `to`. Throws DOMException if a file was changed or removed. */
  slice(from: number, to: number): Promise<Blob>;
}
