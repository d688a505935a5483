import { count } from "../../../ui/values";
import type { FilterName, Part } from "../../../api/documentFilters";

const BEFORE: Partial<Record<FilterName, string>> = {
  title: "title has",
  custodian: "custodian",
  tag: "tag",
  tagTree: "tag",
  withoutTag: "without tag",
  bates: "Bates number",
  batesFrom: "Bates from",
  batesTo: "Bates to",
  dateFrom: "dated from",
  dateTo: "dated to",
  confidentiality: "confidentiality",
  family: "family of",
  from: "from control number",
  import: "import",
  changed: "changed by import",
};
const FILES: Partial<Record<FilterName, string>> = { hasNative: "native", hasText: "text", hasImages: "images" };

/** A filter in words: what stands before its value, the value if people or files gave it, and what stands after it. */
export interface Words {
  before: string;
  value: string | null;
  after: string;
}

export function describePart({ name, value }: Part): Words {
  const words = (before: string, given: string | null = null, after = ""): Words => ({ before, value: given, after });
  if (FILES[name]) return words(`${value ? "with" : "without"} ${FILES[name]}`);
  if (name === "ids") return words(`${count(Number(value), "document")} by id`);
  if (name === "except") return words(`without ${count(Number(value), "document")} that you left out`);
  return words(BEFORE[name] ?? name, String(value), name === "tagTree" ? "and all in it" : "");
}
