import { useQueries, useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { api, data, type Schemas } from "../../api/client";
import { Failure } from "../../ui/Failure";
import { isRunning, Status } from "../../ui/Status";
import { Untrusted } from "../../ui/Untrusted";
import { Count } from "../../ui/values";
import { answerVolume, listLacks, pluralOf, type Lack } from "./missing";

type Details = Schemas["ImportDetails"];
type Volume = Schemas["VolumeDetails"];

// The imports of a volume are its load files and their corrections; more are on the page of the case.
const MOST = 20;

/** The imports of a volume together: rows and images have one answer to what is missing. */
export function VolumePart({ state }: { state: Schemas["ImportState"] }) {
  const volume = useVolume(state.volumeId, state.status);
  const imports = useDetails(volume.data?.imports.slice(0, MOST) ?? []);
  if (state.volumeId === null) return null;
  if (volume.isError) return <Failure error={volume.error} again={() => void volume.refetch()} />;
  if (!volume.data) return null;
  const isComplete = imports.length > 0 && imports.length === Math.min(volume.data.imports.length, MOST);
  return (
    <section aria-labelledby="volume">
      <h2 id="volume">
        Volume <Untrusted text={volume.data.name} />
      </h2>
      {isComplete && <Answer imports={imports} />}
      <Imports imports={imports} current={state.id} />
    </section>
  );
}

function Answer({ imports }: { imports: Details[] }) {
  if (imports.some((each) => isRunning(each.status)))
    return <p>What is missing is known when all imports of the volume have ended.</p>;
  const lacks = listLacks(imports);
  return (
    <>
      <p className="answer">{answerVolume(lacks)}</p>
      <Lacks lacks={lacks} />
    </>
  );
}

function Lacks({ lacks }: { lacks: Lack[] }) {
  return (
    <dl className="figures">
      {lacks.map((each) => (
        <div key={each.what}>
          <dt>{pluralOf({ ...each, missing: 0 }).replace("0 ", "")}</dt>
          <dd>
            <Count value={each.missing} />
            {each.of !== null && (
              <span className="quiet of">
                {" "}
                of <Count value={each.of} />
              </span>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Imports({ imports, current }: { imports: Details[]; current: number }) {
  return (
    <ul className="sentences">
      {imports.map((each) => (
        <li key={each.id}>
          {each.id === current ? `Import ${each.id}` : <Link href={`/imports/${each.id}`}>Import {each.id}</Link>} ·{" "}
          {each.kind === "images" ? "images" : "documents"} · <Untrusted text={each.fileName} />{" "}
          <Status value={each.status} openRejections={each.corrects === null ? each.openRejections : undefined} />
        </li>
      ))}
    </ul>
  );
}

function useVolume(volumeId: number | null, status: string) {
  return useQuery({
    queryKey: ["volume", volumeId, status],
    enabled: volumeId !== null,
    queryFn: async ({ signal }) =>
      data(await api.GET("/volumes/{volumeId}", { params: { path: { volumeId: volumeId! } }, signal })) as Volume,
    refetchInterval: (query) => (query.state.data?.imports.some((each) => isRunning(each.status)) ? 5_000 : false),
  });
}

function useDetails(imports: Volume["imports"]): Details[] {
  const found = useQueries({
    queries: imports.map((each) => ({
      queryKey: ["import-of-volume", each.id, each.status],
      queryFn: async ({ signal }: { signal: AbortSignal }) =>
        data(await api.GET("/imports/{importId}", { params: { path: { importId: each.id } }, signal })) as Details,
    })),
  });
  return found.flatMap((each) => (each.data ? [each.data] : []));
}
