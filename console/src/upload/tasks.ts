// What a queue runs, and what a task may do meanwhile.
import type { Environment } from "./environment";
import type { UploadFault } from "./faults";
import type { Failure, FolderCount } from "./types";

export interface Task {
  path: string;
  /** What is counted when it is done. */
  files: number;
  bytes: number;
  run(context: Context): Promise<void>;
}

export interface Context {
  environment: Environment;
  signal: AbortSignal;
  onSent(bytes: number): void;
  /** Run these next. */
  add(tasks: Task[]): void;
  /** Count something that the bucket had before, and whether its bytes were compared. */
  countThere(files?: number, isCompared?: boolean): void;
}

export interface Plan {
  files: number;
  bytes: number;
  folders: FolderCount[];
  largest: { path: string; size: number }[];
  tasks: Task[];
}

export interface Failed {
  task: Task;
  fault: UploadFault;
}

/** One failure for each file and code, however many of its parts failed. */
export function describeFailures(failed: Failed[]): Failure[] {
  const failures = failed.map(({ task: { path }, fault }) => {
    const { code, message, advice } = fault;
    return { path, code, message, advice };
  });
  return [...new Map(failures.map((each) => [`${each.path}\n${each.code}`, each])).values()];
}
