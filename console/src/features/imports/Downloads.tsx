import { useMutation } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../api/client";
import { Failure } from "../../ui/Failure";
import { Letter } from "./Letter";

type Details = Schemas["ImportDetails"];
type Name = Exclude<keyof Schemas["ReportFiles"], "expiresInSeconds">;

const LABELS: Partial<Record<Name, string>> = {
  rejectedRows: "Rejected rows, to correct and import",
  report: "Reasons of the rejected rows",
  warnings: "Warnings",
  findings: "Findings of the check",
  deficienciesText: "Letter of deficiencies",
  deficiencies: "Table for the letter",
  columns: "Columns and their fields",
};

/** The names of the report files that are written: those of the import, or of its check. */
export function listReports({ reports, check }: Pick<Details, "reports" | "check">): Name[] {
  const there: Partial<Record<Name, unknown>> = {
    findings: check?.report,
    ...reports,
    deficiencies: reports?.deficiencies ?? check?.deficiencies,
    deficienciesText: reports?.deficienciesText ?? check?.deficienciesText,
  };
  return (Object.keys(LABELS) as Name[]).filter((name) => there[name]);
}

/** The report files. URLs live for an hour, so one is requested when it is needed. */
export function Downloads({ details }: { details: Details }) {
  const importId = details.id;
  const download = useMutation({
    mutationFn: async (name: Name) => {
      const files = data(await api.GET("/imports/{importId}/reports", { params: { path: { importId } } }));
      const file = files[name];
      if (file) save(file.url);
    },
  });
  const there = listReports(details);
  if (there.length === 0) return null;
  return (
    <>
      <div className="bar" role="group" aria-labelledby="reports">
        <h2 id="reports">Files to download</h2>
        {there.map((name) =>
          name === "deficienciesText" ? (
            <Letter key={name} details={details} />
          ) : (
            <button key={name} type="button" disabled={download.isPending} onClick={() => download.mutate(name)}>
              {LABELS[name]}
            </button>
          ),
        )}
      </div>
      {download.isError && <Failure error={download.error} />}
    </>
  );
}

/** The response says that it is an attachment, so the page stays. */
function save(url: string): void {
  const link = document.createElement("a");
  link.href = url;
  link.rel = "noreferrer";
  link.click();
}
