import type { Schemas } from "../api/client";

type ImportStatus = Schemas["ImportStatus"];
export type Tone = "good" | "warn" | "bad" | "busy" | "idle";

const TONES: Record<ImportStatus, Tone> = {
  awaiting_upload: "idle",
  uploaded: "idle",
  waiting: "idle",
  blocked: "warn",
  splitting: "busy",
  checking: "busy",
  checked: "good",
  running: "busy",
  completed: "good",
  completed_with_rejections: "warn",
  failed: "bad",
  cancelled: "idle",
  undoing: "busy",
  undone: "idle",
  undone_with_conflicts: "warn",
  undo_failed: "bad",
};

/** The status of an import: in words, and in a colour that says nothing more. */
export function Status({ value, openRejections }: { value: ImportStatus; openRejections?: number }) {
  const isSolved = value === "completed_with_rejections" && openRejections === 0;
  const words = isSolved ? "completed, nothing open" : value.replaceAll("_", " ");
  return <span className={`status ${isSolved ? "good" : TONES[value]}`}>{words}</span>;
}

/** Whether the import goes on by itself. */
export const isRunning = (value: ImportStatus) => TONES[value] === "busy" || value === "waiting";
