import { useQuery } from "@tanstack/react-query";
import { ApiError, api, data } from "../../api/client";
import { Dialog } from "../../ui/Dialog";
import { Failure } from "../../ui/Failure";
import { announce } from "../../ui/LiveRegion";
import { LongText } from "../../ui/Untrusted";
import { readPeriod, useDecision } from "./queries";
import type { Period } from "./segments";
import { Holder, Times } from "./words";

/** Remove a period that was recorded by mistake. */
export function RemoveDialog({ period, onClose }: { period: Period; onClose: () => void }) {
  const path = { periodId: period.id };
  const remove = useDecision(async (version: number, key: string) => {
    const header = { "If-Match": `"${version}"`, "Idempotency-Key": key };
    return data(await api.DELETE("/custody-periods/{periodId}", { params: { path, header } }));
  });
  const isStale = remove.error instanceof ApiError && [404, 412].includes(remove.error.status);
  const now = useQuery({
    queryKey: ["custody", period.deviceId, "period", period.id],
    enabled: isStale,
    staleTime: 0,
    queryFn: () => readPeriod(period.id),
  });
  const shown = isStale && now.data ? now.data : period;
  const isGone = isStale && now.data === null;
  const onSuccess = () => {
    announce("The period was removed.");
    onClose();
  };
  return (
    <Dialog title={`Remove period ${period.id}?`} open onClose={onClose}>
      {isGone && <p role="alert">The period was removed meanwhile; the changes below the history say by whom.</p>}
      {isStale && now.data && (
        <p role="alert">
          <strong>Not removed: another user has changed the period meanwhile.</strong> This is how it is now:
        </p>
      )}
      {!isGone && (
        <>
          <p>
            <Holder period={shown} />, <Times period={shown} />
          </p>
          {shown.note !== null && (
            <p>
              <LongText text={shown.note} />
            </p>
          )}
          <p>
            The device then has no recorded holder for this time. What the period said stays in the changes below the
            history. To correct a time or the holder, edit the period instead.
          </p>
        </>
      )}
      {remove.isError && !isStale && <Failure error={remove.error} />}
      {isStale && now.isError && <Failure error={now.error} again={() => void now.refetch()} />}
      <div className="bar">
        {!isGone && (
          <button
            type="button"
            className="primary"
            disabled={remove.isPending || (isStale && (now.isFetching || now.isError))}
            onClick={() => remove.mutate(shown.version, { onSuccess })}
          >
            Remove the period
          </button>
        )}
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
