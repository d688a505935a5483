import { useState, type FormEvent } from "react";
import { api, data, type Schemas } from "../../api/client";
import { Dialog } from "../../ui/Dialog";
import { Failure } from "../../ui/Failure";
import { announce } from "../../ui/LiveRegion";
import { Conflicts, isConflict, LISTED, useInTheWay } from "./Conflicts";
import { findFaults, toNewPeriod, useDraft, type Kept, type PeriodDraft } from "./drafts";
import { KeptDraft, PeriodFields } from "./PeriodFields";
import { useDecision } from "./queries";
import type { Period } from "./segments";
import { formatLocal, readField, readTime, toField } from "./times";
import { SubmitBar } from "./SubmitBar";

interface RecordDialogProps {
  deviceId: number;
  begin: () => PeriodDraft;
  kept: Kept;
  onEdit: (period: Period) => void;
  onClose: () => void;
}

/** Record a period. */
export function RecordDialog({ deviceId, begin, kept, onEdit, onClose }: RecordDialogProps) {
  const form = useDraft(kept, "record", begin);
  const { draft, change } = form;
  const [isSent, setSent] = useState(false);
  const record = useDecision(async (wish: Schemas["NewPeriod"], key: string) =>
    data(await api.POST("/custody-periods", { params: { header: { "Idempotency-Key": key } }, body: [wish] })),
  );
  const faults = findFaults(draft);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setSent(true);
    if (Object.keys(faults).length > 0) return;
    record.mutate(toNewPeriod(deviceId, draft), {
      onSuccess: () => {
        form.drop();
        announce("The period is recorded.");
        onClose();
      },
    });
  };
  return (
    <Dialog title={`Record a period of device ${deviceId}`} open onClose={onClose}>
      <form className="form" onSubmit={submit} noValidate>
        <KeptDraft isKept={form.isKept} isDirty={form.isDirty} onAgain={form.again} />
        <PeriodFields draft={draft} faults={isSent ? faults : {}} onChange={change} />
        {record.isError && (
          <Refused
            error={record.error}
            deviceId={deviceId}
            wish={record.variables}
            draft={draft}
            onChange={change}
            onEdit={onEdit}
          />
        )}
        <SubmitBar label="Record the period" busy="Recording…" isPending={record.isPending} onClose={onClose} />
      </form>
    </Dialog>
  );
}

/** A field has whole seconds, and a period may not begin before the other one has ended. */
const roundUp = (at: number): number => Math.ceil(at / 1_000) * 1_000;

interface RefusedProps {
  error: unknown;
  deviceId: number;
  wish: { begin: string; end: string | null };
  draft: PeriodDraft;
  /** The period that is changed, which is not in its own way. */
  own?: number;
  onChange: (draft: PeriodDraft) => void;
  onEdit: (period: Period) => void;
}

/** Why a period is refused: what is in its way, drawn, with the times that would fit. */
export function Refused({ error, deviceId, wish, draft, own, onChange, onEdit }: RefusedProps) {
  const requested = { begin: wish.begin, end: wish.end };
  const found = useInTheWay(deviceId, isConflict(error) ? requested : null);
  if (!isConflict(error)) return <Failure error={error} />;
  const inTheWay = (found.data ?? []).filter((each) => each.id !== own);
  const begin = readField(draft.begin)?.at ?? 0;
  // A change of one time helps if it makes room for all that is in the way.
  const [first, last] = [inTheWay[0], inTheWay.length > LISTED ? undefined : inTheWay.at(-1)];
  const cure = (period: Period) => (
    <>
      {period === first && readTime(period.begin) > begin && (
        <button
          type="button"
          onClick={() => onChange({ ...draft, isOpen: false, end: toField(readTime(period.begin)) })}
        >
          End at {formatLocal(readTime(period.begin))}
        </button>
      )}
      {period === last && period.end !== null && (
        <button type="button" onClick={() => onChange({ ...draft, begin: toField(roundUp(readTime(period.end!))) })}>
          Begin at {formatLocal(readTime(period.end))}
        </button>
      )}
      <button type="button" onClick={() => onEdit(period)}>
        Edit that period
      </button>
    </>
  );
  return (
    <div className="notice bad" role="alert">
      <strong>Not recorded: a part of this time has a holder</strong>
      <p>
        A device has one holder at a time. A period may begin when another one ends: change yours, or edit the other.
      </p>
      {found.isError && <Failure error={found.error} again={() => void found.refetch()} />}
      {found.data && inTheWay.length === 0 && <p>What was in the way is gone: record the period again.</p>}
      {inTheWay.length > 0 && <Conflicts requested={requested} found={inTheWay} cure={cure} />}
    </div>
  );
}
