import type { VolumeFile } from "./files";

/** What was done with a file: `there` had the same bytes already, `other` has other ones and was left alone. */
export type Result = "written" | "there" | "other";

/** Where a volume is downloaded to. */
export interface Target {
  readonly place: string;
  /** New paths of the volume. Throws VolumeFault, before a file is written, if one would take the place of another. */
  admit(paths: readonly string[]): Promise<void>;
  /** Write a file. Throws FileFault, or what the disk or the network throws; nothing of the file is there then. */
  put(file: VolumeFile, signal: AbortSignal, onBytes: (count: number) => void): Promise<Result>;
  /** All files are there. */
  finish(): Promise<void>;
  /** Nothing more comes. */
  abandon(): Promise<void>;
}
