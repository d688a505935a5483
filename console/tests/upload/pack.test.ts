import { expect, test } from "vitest";
import { crc32, Crc64 } from "../../src/upload/crc";
import { packFiles } from "../../src/upload";
import { makeFile } from "./world";

const encode = (text: string) => new TextEncoder().encode(text);

test("the checksums are those of the standards", () => {
  expect(crc32(encode("123456789"))).toBe(0xcbf43926);
  expect(crc32(encode("789"), crc32(encode("123456")))).toBe(0xcbf43926);
  expect(crc32(encode("0123456789abcdefghi"))).toBe(crc32(encode("bcdefghi"), crc32(encode("0123456789a"))));
  for (const pieces of [["123456789"], ["12", "3456789"], ["12345678", "", "9"]]) {
    const crc = new Crc64();
    for (const piece of pieces) crc.add(encode(piece));
    expect(crc.toBase64()).toBe("rosUhgp5mIg=");
  }
});

test("any range of an archive is the same when it is made again, from files that were not read", async () => {
  const files = ["", "a", "bc".repeat(50), "é"].map((text, at) => {
    const file = makeFile(`${at}`, text);
    return { path: `V/ü${at}`, size: file.size, file };
  });
  const whole = new Uint8Array(await (await packFiles(files).slice(0, packFiles(files).size)).arrayBuffer());
  for (let from = 0; from < whole.length; from += 7) {
    const made = await packFiles([...files].reverse()).slice(from, from + 40);
    expect(new Uint8Array(await made.arrayBuffer())).toEqual(whole.slice(from, from + 40));
  }
});

test("a file that was changed meanwhile is refused", async () => {
  const file = makeFile("a", "before");
  const archive = packFiles([{ path: "a", size: 6, file }]);
  await archive.slice(0, archive.size);
  file.arrayBuffer = async () => encode("after!").buffer;
  await expect(archive.slice(0, archive.size)).rejects.toMatchObject({ code: "FILE_CHANGED" });
  file.arrayBuffer = async () => encode("longer than before").buffer;
  await expect(packFiles([{ path: "a", size: 6, file }]).slice(0, 40)).rejects.toMatchObject({ code: "FILE_CHANGED" });
});
