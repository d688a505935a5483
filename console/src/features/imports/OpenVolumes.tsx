import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { useRefusal } from "../../api/cases";
import { api, data, type Schemas } from "../../api/client";
import { useCanImport } from "../../api/me";
import { Failure } from "../../ui/Failure";
import { Untrusted } from "../../ui/Untrusted";
import { formatBytes, Time } from "../../ui/values";

const NEWEST = 100;

/** Volumes without imports, which are in no list of imports: some of their files are missing, or they failed. */
export function OpenVolumes({ caseId }: { caseId: number }) {
  const isRefused = useRefusal(caseId) !== null;
  const canImport = useCanImport() && !isRefused;
  const volumes = useQuery({
    queryKey: ["open-volumes", caseId],
    queryFn: async ({ signal }) => {
      const query = { caseId, limit: NEWEST };
      return data(await api.GET("/volumes", { params: { query }, signal })) as Schemas["VolumePage"];
    },
  });
  if (volumes.isError) return <Failure error={volumes.error} again={() => void volumes.refetch()} />;
  const open = (volumes.data?.items ?? []).filter((each) => each.status === "open" || each.status === "failed");
  if (open.length === 0) return null;
  return (
    <section aria-labelledby="open-volumes">
      <h2 id="open-volumes">Volumes that are not imported yet</h2>
      <ul className="sentences">
        {open.map((each) => (
          <li key={each.id}>
            <Untrusted text={each.name} /> · {each.status === "failed" ? "could not be read" : "not finished"} ·{" "}
            {formatBytes(each.bytes)} · <Untrusted text={each.userName ?? each.userId} /> ·{" "}
            <Time value={each.createdAt} />
            {canImport && (
              <>
                {" "}
                · <Link href={`/import/volume/${each.id}`}>Go on with it</Link>
              </>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
