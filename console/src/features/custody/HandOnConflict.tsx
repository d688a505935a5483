import type { Schemas } from "../../api/client";
import { Failure } from "../../ui/Failure";
import { Untrusted } from "../../ui/Untrusted";
import { ExactTime } from "./ExactTime";
import { Conflicts, isConflict, useInTheWay } from "./Conflicts";
import { useChanges } from "./queries";
import { readTime } from "./times";
import type { Period } from "./segments";

interface HandOnConflictProps {
  error: unknown;
  wish: Schemas["NewTransfer"];
  onContinue: (from: Period) => void;
  onRecord: () => void;
}

/** Why a device was not handed on: who has it instead, since when, and who has recorded that. */
export function HandOnConflict({ error, wish, onContinue, onRecord }: HandOnConflictProps) {
  const { deviceId, fromPeriodId } = wish;
  const requested = { begin: wish.at, end: wish.end ?? null };
  const found = useInTheWay(deviceId, isConflict(error) ? requested : null);
  if (!isConflict(error)) return <Failure error={error} />;
  const at = readTime(wish.at);
  const later = (found.data ?? []).filter((each) => each.id !== fromPeriodId || readTime(each.begin) >= at);
  const holding = later.find((each) => each.end === null || readTime(each.end) > Date.now());
  return (
    <div className="notice bad" role="alert">
      <strong>Not handed on</strong>
      {found.isError && <Failure error={found.error} again={() => void found.refetch()} />}
      {found.data && later.length === 0 && <NoHolder deviceId={deviceId} onRecord={onRecord} />}
      {later.length > 0 && (
        <>
          <p>Another period was recorded for this time, maybe in another window; yours would contradict it.</p>
          <Conflicts
            requested={requested}
            found={later}
            cure={(each) => (
              <>
                <RecordedBy period={each} />
                {each.id === holding?.id && (
                  <button type="button" onClick={() => onContinue(each)}>
                    Hand on from this holder instead
                  </button>
                )}
              </>
            )}
          />
        </>
      )}
    </div>
  );
}

function NoHolder({ deviceId, onRecord }: { deviceId: number; onRecord: () => void }) {
  return (
    <>
      <p>
        Device {deviceId} has no recorded holder at this time, so no period can be ended. Record one for the receiver.
      </p>
      <button type="button" onClick={onRecord}>
        Record a period instead
      </button>
    </>
  );
}

/** Who recorded a period, and when; found among the last changes. */
function RecordedBy({ period }: { period: Period }) {
  const changes = useChanges(period.deviceId);
  const change = changes.data?.pages[0]?.items.find((each) => each.periodId === period.id);
  if (!change) return null;
  return (
    <span className="quiet">
      {change.action} by <Untrusted text={change.userName ?? change.userId} />, <ExactTime value={change.changedAt} />
    </span>
  );
}
