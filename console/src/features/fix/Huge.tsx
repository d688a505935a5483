import { useMutation } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import { Failure } from "../../ui/Failure";

/** More rows than a person corrects one by one: the file of rejected rows is the quicker way. */
export function Huge({ importId, openRejections }: { importId: number; openRejections: number }) {
  const download = useMutation({
    mutationFn: async () => {
      const files = data(await api.GET("/imports/{importId}/reports", { params: { path: { importId } } }));
      const link = document.createElement("a");
      if (!files.rejectedRows) throw new Error("The reports of the import are not written yet.");
      link.href = files.rejectedRows.url;
      link.rel = "noreferrer";
      link.click();
    },
  });
  return (
    <div className="notice">
      <strong>{openRejections.toLocaleString()} rows are open</strong>
      <p>
        For so many, correct the file of rejected rows in a text editor and import it as a correction of import{" "}
        {importId}: rows that are right then count as corrected here. This page shows up to 200 rows at once.
      </p>
      <button type="button" disabled={download.isPending} onClick={() => download.mutate()}>
        Download the rejected rows
      </button>
      {download.isError && <Failure error={download.error} />}
    </div>
  );
}
