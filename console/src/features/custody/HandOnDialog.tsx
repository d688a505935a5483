import { useState, type FormEvent } from "react";
import { api, data, type Schemas } from "../../api/client";
import { Dialog } from "../../ui/Dialog";
import { announce } from "../../ui/LiveRegion";
import { ExactTime } from "./ExactTime";
import { useDraft, type Choice, type Kept } from "./drafts";
import { HandOnConflict } from "./HandOnConflict";
import { HolderField } from "./HolderField";
import { KeptDraft, Note } from "./PeriodFields";
import { useDecision } from "./queries";
import type { Period } from "./segments";
import { TimeField } from "./TimeField";
import { nameZone, readField, toApi, toField, type LocalTime } from "./times";
import { Holder } from "./words";
import { SubmitBar } from "./SubmitBar";

interface HandOnDialogProps {
  /** The period in which the device is held now. */
  period: Period;
  kept: Kept;
  onRecord: () => void;
  onClose: () => void;
}

export interface HandOnDraft {
  from: Period;
  at: LocalTime;
  receiver: Choice;
  note: string;
}

const now = () => toField(Math.floor(Date.now() / 1_000) * 1_000);

/** Hand a device on: its holder's period ends, and the receiver's begins, if that holder still has it. */
export function HandOnDialog({ period, kept, onRecord, onClose }: HandOnDialogProps) {
  const form = useDraft<HandOnDraft>(kept, "hand-on", () => ({
    from: period,
    at: now(),
    receiver: undefined,
    note: "",
  }));
  const { draft, change } = form;
  const [isSent, setSent] = useState(false);
  const handOn = useDecision(async (wish: Schemas["NewTransfer"], key: string) =>
    data(await api.POST("/custody-transfers", { params: { header: { "Idempotency-Key": key } }, body: wish })),
  );
  const at = readField(draft.at);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setSent(true);
    if (!at || draft.receiver === undefined) return;
    handOn.mutate(toTransfer(draft, at.at), {
      onSuccess: () => {
        form.drop();
        announce("The device was handed on.");
        onClose();
      },
    });
  };
  const continueFrom = (from: Period) => {
    handOn.reset();
    change({ ...draft, from, at: now() });
  };
  return (
    <Dialog title={`Hand on device ${period.deviceId}`} open onClose={onClose}>
      <form className="form" onSubmit={submit} noValidate>
        <KeptDraft isKept={form.isKept} isDirty={form.isDirty} onAgain={form.again} />
        <p>
          From <Holder period={draft.from} />, holder since <ExactTime value={draft.from.begin} />{" "}
          <span className="quiet">(period {draft.from.id})</span>
        </p>
        <TimeField
          label="Time"
          value={draft.at}
          fault={isSent && !at ? "Enter the date and the time at which the device was handed on." : undefined}
          onChange={(value) => change({ ...draft, at: value })}
        />
        <HolderField
          legend="To"
          value={draft.receiver}
          fault={isSent && draft.receiver === undefined ? "Choose who has the device now." : undefined}
          onChange={(receiver) => change({ ...draft, receiver })}
        />
        <Note value={draft.note} onChange={(note) => change({ ...draft, note })} />
        <p className="quiet">
          The period of the present holder ends at this time, and that of the receiver begins: both are recorded, or
          neither. The time is that of {nameZone()}.
        </p>
        {handOn.isError && (
          <HandOnConflict error={handOn.error} wish={handOn.variables} onContinue={continueFrom} onRecord={onRecord} />
        )}
        <SubmitBar label="Hand on" busy="Recording…" isPending={handOn.isPending} onClose={onClose} />
      </form>
    </Dialog>
  );
}

const toTransfer = ({ from, receiver, note }: HandOnDraft, at: number): Schemas["NewTransfer"] => ({
  deviceId: from.deviceId,
  at: toApi(at),
  custodianId: receiver?.id ?? null,
  note: note.trim() || null,
  fromPeriodId: from.id,
});
