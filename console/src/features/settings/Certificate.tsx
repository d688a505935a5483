import { useMutation } from "@tanstack/react-query";
import type { Case } from "../../api/cases";
import { api, data, type Schemas } from "../../api/client";
import { Failure } from "../../ui/Failure";
import { saveBlob } from "../../ui/save";
import { formatCertificate } from "./certificate";

/** What the purge of a case has destroyed, as a file; until it has ended, with the counts so far. */
export function Certificate({ of }: { of: Pick<Case, "id" | "status"> }) {
  const download = useMutation({
    mutationFn: async () => {
      const params = { path: { caseId: of.id } };
      const found = data(await api.GET("/cases/{caseId}/certificate", { params })) as Schemas["Certificate"];
      saveBlob(`certificate of case ${of.id}.json`, formatCertificate(found));
    },
  });
  if (of.status !== "purging" && of.status !== "purged") return null;
  return (
    <>
      <div className="bar">
        <button type="button" disabled={download.isPending} onClick={() => download.mutate()}>
          Download the certificate
        </button>
        {of.status === "purging" && <span className="quiet">The purge has not ended: it has the counts so far.</span>}
      </div>
      {download.isError && <Failure error={download.error} again={() => download.mutate()} isByHand />}
    </>
  );
}
