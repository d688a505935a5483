// What a check found, in words and in the order in which it is read.
import type { Schemas } from "../../api/client";
import { count } from "../../ui/values";

type Check = Schemas["CheckResult"];
type Found = Schemas["CheckedCode"];

/** Errors come first, then warnings; of each the most frequent. */
export function sortFindings(findings: readonly Found[]): Found[] {
  const rank = (each: Found) => (each.severity === "error" ? 0 : 1);
  return [...findings].sort((a, b) => rank(a) - rank(b) || b.count - a.count || a.code.localeCompare(b.code));
}

/** What an import of the file would do. */
export function summarizeCheck(check: Check): string[] {
  const found: [number, string][] = [
    [check.wouldImport, `${count(check.wouldImport, "row")} would be imported as new documents.`],
    [check.wouldUpdate, `${count(check.wouldUpdate, "row")} would change documents that exist.`],
    [check.unchanged, `${count(check.unchanged, "row")} would change nothing: the case has the documents already.`],
    [check.wouldReject, `${count(check.wouldReject, "row")} would be rejected.`],
    [check.newCustodians, `${count(check.newCustodians, "custodian")} would be created.`],
    [check.newTags, `${count(check.newTags, "tag")} would be created.`],
  ];
  const sentences = found.filter(([number]) => number > 0).map(([, sentence]) => sentence);
  if (check.findings.length === 0) sentences.push("Nothing was found that has to be looked at.");
  return sentences;
}
