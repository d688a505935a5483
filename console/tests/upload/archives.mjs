// Makes archives for the tests in Python: one JSON object a line says what is in it, how it is cut and where it goes.
// The answer is a line with the size that was known beforehand, or the error. Each part is made by an archive that has
// read nothing before.
import { open } from "node:fs/promises";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const { packFiles } = await import(pathToFileURL(process.argv[2]));

/** A file of this many zeros that has no bytes on the disk. */
const makeZeros = (size) => ({
  size,
  slice: (from, to) => new Uint8Array(Math.min(to, size) - from),
  arrayBuffer: async () => new ArrayBuffer(size),
  stream: () =>
    new ReadableStream({
      start: (controller) => (controller.left = size),
      pull(controller) {
        const bytes = new Uint8Array(Math.min(controller.left, 4_194_304));
        if (!bytes.length) return controller.close();
        controller.left -= bytes.length;
        controller.enqueue(bytes);
      },
    }),
});

const makeFile = ({ path, text, zeros }) => {
  const file = zeros === undefined ? new File([Buffer.from(text, "base64")], "file") : makeZeros(zeros);
  return { path, size: file.size, file };
};

/** Write the parts, the last one first; of an archive with `only`, these ranges alone, negative ones from its end. */
async function write({ files, cuts, only, out }) {
  const picked = files.map(makeFile);
  const { size } = packFiles(picked);
  if (!out) return size;
  const places = [0, ...cuts.filter((each) => each < size).sort((one, other) => one - other), size];
  const parts = places.slice(1).map((to, at) => [places[at], to]);
  const one = only && packFiles(picked);
  const ranges = only?.map(([from, to]) => (from < 0 ? [size + from, size + to] : [from, to])) ?? parts.reverse();
  const target = await open(out, "w");
  await target.truncate(size);
  for (const [from, to] of ranges) {
    const part = await (one ?? packFiles(picked)).slice(from, to);
    if (part.size !== to - from) throw new Error(`${part.size} bytes instead of ${to - from}`);
    await target.write(Buffer.from(await part.arrayBuffer()), 0, part.size, from);
  }
  await target.close();
  return size;
}

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await write(JSON.parse(line)).then(
    (size) => ({ size }),
    (error) => ({ error: String(error.stack) }),
  );
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
