// Everything that moves bytes from a browser to the bucket. Pages import from here alone.
import type { FolderCount, FolderTarget, Picked, PickedFile, Source, Target, Thing, Transfer, UploadUrls } from "./types";

export type * from "./types";

export const MAX_SINGLE_FILES = 2000;

export declare function collectDrop(data: DataTransfer, onFound?: (files: number) => void): Promise<Picked>;
export declare function collectInput(files: Iterable<File>, onFound?: (files: number) => void): Promise<Picked>;
export declare function summarize(files: PickedFile[]): { folders: FolderCount[]; largest: PickedFile[] };
export declare function findFile(thing: Thing, path: string): File | undefined;
export declare function sendBeginning(
  file: Blob,
  preview: { bytes: number; upload: UploadUrls },
  signal?: AbortSignal,
): Promise<void>;
export declare function fileSource(file: File): Source;
export declare function packFiles(files: PickedFile[]): Source;
export declare function uploadSource(source: Source, target: Target): Transfer;
export declare function uploadFolder(files: PickedFile[], target: FolderTarget): Transfer;
export declare function importTarget(importId: number, urls: UploadUrls | null): Target;
export declare function archiveTarget(volumeId: number, urls: UploadUrls | null): Target;
export declare function folderTarget(volumeId: number): FolderTarget;
export declare function keepTransfer(key: string, transfer: Transfer): void;
export declare function getTransfer(key: string): Transfer | undefined;
export declare function forgetTransfer(key: string): void;
