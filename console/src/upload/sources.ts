// A file as a source of bytes. An archive of many is in pack.ts.
import type { Source } from "./types";

/** Return a file as it is: a load file, a zip, a file of a folder. */
export function fileSource(file: File, path = file.webkitRelativePath || file.name): Source {
  return {
    size: file.size,
    files: [{ path, size: file.size }],
    ends: [file.size],
    slice: async (from, to) => file.slice(from, to),
  };
}
