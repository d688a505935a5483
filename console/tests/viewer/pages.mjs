// Decodes pages for the tests in Python: one JSON object a line names a file and a page. The answer is a line with the
// size of the page and the SHA-256 of its pixels, or the code of the fault; whatever is not a fault ends the process.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const { decodePage, Directories, FileFault, MemorySource } = await import(pathToFileURL(process.argv[2]));

async function decode({ path, page }) {
  const source = new MemorySource(new Uint8Array(await readFile(path)));
  const directories = await Directories.open(source);
  const tags = await directories.readPage(page);
  const started = performance.now();
  const { width, height, pixels, turn } = await decodePage(source, tags, new AbortController().signal);
  const milliseconds = performance.now() - started;
  const sha256 = createHash("sha256").update(pixels).digest("hex");
  return { width, height, turn, sha256, milliseconds, pages: directories.count };
}

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await decode(JSON.parse(line)).catch((error) => {
    if (error instanceof FileFault) return { code: error.code, detail: error.message };
    throw error;
  });
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
