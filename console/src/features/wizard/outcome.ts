// What a check says, as sentences and as the label of the button that follows. No React in it.
import type { Schemas } from "../../api/client";
import { count } from "../../ui/values";
import { join } from "./words";

type Details = Schemas["ImportDetails"];
type Check = Schemas["CheckResult"];

/** The checks of a draft as one: rows of the data file, documents and pages of the image load files. */
export interface Outcome {
  imported: number;
  updated: number;
  unchanged: number;
  rejected: number;
  pages: number;
  rejectedImages: number;
  errors: Schemas["CheckedCode"][];
  warnings: number;
}

export function addUp(rows: Details | null, images: Details[]): Outcome {
  const check: Partial<Check> = rows?.check ?? {};
  const checks = [check, ...images.map((each) => each.check ?? ({} as Partial<Check>))];
  const findings = checks.flatMap((each) => each.findings ?? []);
  return {
    imported: check.wouldImport ?? 0,
    updated: check.wouldUpdate ?? 0,
    unchanged: check.unchanged ?? 0,
    rejected: check.wouldReject ?? 0,
    pages: images.reduce((sum, each) => sum + (each.pages?.imported ?? 0), 0),
    rejectedImages: images.reduce((sum, each) => sum + (each.check?.wouldReject ?? 0), 0),
    errors: findings.filter((each) => each.severity === "error"),
    warnings: findings.filter((each) => each.severity === "warning").reduce((sum, each) => sum + each.count, 0),
  };
}

/** Return what the button does, such as `Import 2,990 rows and leave 10`; null if nothing would change. */
export function labelRun(outcome: Outcome): string | null {
  const parts = [
    outcome.imported > 0 && `import ${count(outcome.imported, "row")}`,
    outcome.updated > 0 && `change ${count(outcome.updated, "document")}`,
    outcome.pages > 0 && `add ${count(outcome.pages, "page")}`,
  ].filter((each) => each !== false);
  if (parts.length === 0) return null;
  const left = outcome.rejected + outcome.rejectedImages;
  const label = join(left > 0 ? [...parts, `leave ${left.toLocaleString("en-US")}`] : parts);
  return label[0]!.toUpperCase() + label.slice(1);
}

/** Return what the check found, in one sentence. */
export function summarize(outcome: Outcome): string {
  const parts = [
    outcome.imported > 0 && `${count(outcome.imported, "row")} would be imported`,
    outcome.updated > 0 && `${count(outcome.updated, "document")} would change`,
    outcome.unchanged > 0 &&
      `${count(outcome.unchanged, "row")} ${outcome.unchanged === 1 ? "is" : "are"} in the case already`,
    outcome.pages > 0 && `${count(outcome.pages, "page")} would be added`,
    outcome.rejected > 0 && `${count(outcome.rejected, "row")} would be rejected`,
    outcome.rejectedImages > 0 &&
      `${count(outcome.rejectedImages, "document")} of the image load file would be rejected`,
  ].filter((each) => each !== false);
  return parts.length ? `${join(parts)}.` : "The file has no rows.";
}

/** Return the missing and linked files of a volume's rows, such as `18 of 19 natives are in the volume.` */
export function describeFiles(rows: Details | null, images: Details[]): string[] {
  const files = rows?.files;
  const pages = images.reduce((sum, each) => sum + (each.pages?.imported ?? 0), 0);
  const missing = images.reduce((sum, each) => sum + (each.pages?.missingImages ?? 0), 0);
  const kinds: [string, number, number][] = [
    ["native", files?.nativesLinked ?? 0, files?.nativesMissing ?? 0],
    ["text", files?.textsLinked ?? 0, files?.textsMissing ?? 0],
    ["image", pages - missing, missing],
  ];
  return kinds
    .filter(([, found, lost]) => found + lost > 0)
    .map(([kind, found, lost]) =>
      lost === 0
        ? `${found === 1 ? `The ${kind} is` : `All ${count(found, kind)} are`} in the volume.`
        : `${lost.toLocaleString("en-US")} of ${count(found + lost, kind)} ${lost === 1 ? "is" : "are"} missing.`,
    );
}
