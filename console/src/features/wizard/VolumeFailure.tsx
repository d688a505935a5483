import type { Schemas } from "../../api/client";
import { Failure } from "../../ui/Failure";
import { toWords } from "../../ui/messages";
import { Untrusted } from "../../ui/Untrusted";

/** Why a volume has no imports, and what has been requested of it; the choice that lifts it is below. */
export function VolumeFailure(props: {
  volume: Schemas["VolumeDetails"];
  seal: { error: unknown; apply: () => void };
}) {
  const { volume, seal } = props;
  return (
    <>
      {volume.status === "failed" && (
        <div className="notice bad" role="alert">
          <p>
            <Untrusted text={toWords(volume.failureMessage ?? "")} />
          </p>
          <p className="quiet">{volume.failureCode}</p>
        </div>
      )}
      {volume.lateFiles > 0 && (
        <p className="notice warn">
          {volume.lateFiles.toLocaleString("en-US")} files arrived after the volume was listed and are not in it.
        </p>
      )}
      {seal.error !== null && <Failure error={seal.error} again={seal.apply} isByHand />}
    </>
  );
}
