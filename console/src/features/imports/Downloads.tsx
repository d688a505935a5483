import { useMutation } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../api/client";
import { Failure } from "../../ui/Failure";

const NAMES: [keyof Schemas["ReportNames"] & keyof Schemas["ReportFiles"], string][] = [
  ["rejectedRows", "Rejected rows, to correct and load"],
  ["report", "report.csv"],
  ["warnings", "warnings.csv"],
  ["deficiencies", "deficiencies.csv"],
  ["deficienciesText", "deficiencies.txt"],
  ["columns", "columns.csv"],
];

/** The report files. URLs live for an hour, so one is requested when it is needed. */
export function Downloads({ details }: { details: Schemas["ImportDetails"] }) {
  const importId = details.id;
  const download = useMutation({
    mutationFn: async (name: (typeof NAMES)[number][0]) => {
      const files = data(await api.GET("/imports/{importId}/reports", { params: { path: { importId } } }));
      const file = files[name];
      if (file) save(file.url);
    },
  });
  const reports = details.reports;
  const there = NAMES.filter(([name]) => reports?.[name]);
  if (there.length === 0) return null;
  return (
    <>
      <div className="bar">
        {there.map(([name, label]) => (
          <button key={name} type="button" disabled={download.isPending} onClick={() => download.mutate(name)}>
            {label}
          </button>
        ))}
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
