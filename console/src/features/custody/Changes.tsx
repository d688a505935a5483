import type { Schemas } from "../../api/client";
import { Failure } from "../../ui/Failure";
import { More } from "../../ui/More";
import { Skeleton } from "../../ui/Skeleton";
import { LongText, Untrusted } from "../../ui/Untrusted";
import { ExactTime } from "./ExactTime";
import { useChanges } from "./queries";
import { Holder, Times } from "./words";

type Change = Schemas["CustodyChange"];

/** Every change of the periods, the latest first: who, when, and what the period was after it. */
export function Changes({ deviceId }: { deviceId: number }) {
  const changes = useChanges(deviceId);
  const shown = changes.data?.pages.flatMap((page) => page.items) ?? [];
  if (changes.isPending) return <Skeleton rows={3} />;
  return (
    <>
      {changes.isError && <Failure error={changes.error} again={() => void changes.refetch()} />}
      {changes.isSuccess && shown.length === 0 && <p className="quiet">Nothing was changed yet.</p>}
      {shown.length > 0 && (
        <div className="scroll" tabIndex={0} role="region" aria-label="Changes">
          <table className="list">
            <thead>
              <tr>
                <th scope="col">Changed</th>
                <th scope="col">By</th>
                <th scope="col">What</th>
                <th scope="col">The period after it</th>
                <th scope="col">Note</th>
              </tr>
            </thead>
            <tbody>
              {shown.map((each) => (
                <ChangeRow key={`${each.periodId} ${each.version}`} change={each} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      <More pages={changes} what="changes" />
    </>
  );
}

const WORDS: Record<Change["action"], string> = { added: "recorded", changed: "changed", removed: "removed" };

const ChangeRow = ({ change }: { change: Change }) => (
  <tr>
    <td className="whole">
      <ExactTime value={change.changedAt} />
    </td>
    <td className="by">
      <Untrusted text={change.userName ?? change.userId} />
    </td>
    <td className="whole">
      {WORDS[change.action] ?? change.action} period {change.periodId}
    </td>
    <td className="name">
      {change.action === "removed" && <span className="quiet">before: </span>}
      <Holder period={change} />, <Times period={change} />
    </td>
    <td className="note">
      <LongText text={change.note} />
    </td>
  </tr>
);
