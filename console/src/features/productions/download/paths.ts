// Paths of a volume, as the command takes them: whatever the API names, a file is written below the folder of the volume
// or not at all, and no name means another place on Linux, macOS or Windows.

const FORBIDDEN = /[\\:*?"<>|\u0000-\u001f\u007f]/;
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?:\..*)?$/i;
const LONGEST = 1_024;

/** Return the folders and the name of a path; null if it could lead to another place. */
export function splitPath(path: string): [folders: string[], name: string] | null {
  const parts = path.split("/");
  if (path.length > LONGEST || !parts.every(isName)) return null;
  return [parts.slice(0, -1), parts.at(-1)!];
}

const isName = (part: string) =>
  part !== "" && part !== "." && part !== ".." && !/[. ]$/.test(part) && !FORBIDDEN.test(part) && !DEVICE.test(part);
