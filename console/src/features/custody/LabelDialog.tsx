import { useState, type FormEvent } from "react";
import { api, data } from "../../api/client";
import { Dialog } from "../../ui/Dialog";
import { Failure } from "../../ui/Failure";
import { announce } from "../../ui/LiveRegion";
import { useDraft, type Kept } from "./drafts";
import { KeptDraft } from "./PeriodFields";
import { useDecision } from "./queries";
import { SubmitBar } from "./SubmitBar";

interface LabelWish {
  deviceId: number;
  label: string | null;
}

/** Set the label of a device; one that does not exist is added. */
export const useLabel = () =>
  useDecision(async ({ deviceId, label }: LabelWish, key: string) => {
    const params = { path: { deviceId }, header: { "Idempotency-Key": key } };
    return data(await api.PUT("/devices/{deviceId}", { params, body: { label } }));
  });

interface LabelDialogProps {
  deviceId: number;
  label: string | null;
  kept: Kept;
  onClose: () => void;
}

export function LabelDialog({ deviceId, label, kept, onClose }: LabelDialogProps) {
  const form = useDraft(kept, "label", () => label ?? "");
  const save = useLabel();
  const [shown] = useState(label);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const onSuccess = () => {
      form.drop();
      announce("The label was saved.");
      onClose();
    };
    save.mutate({ deviceId, label: form.draft.trim() || null }, { onSuccess });
  };
  return (
    <Dialog title={`Label device ${deviceId}`} open onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <KeptDraft isKept={form.isKept} isDirty={form.isDirty} onAgain={form.again} />
        <div className="field">
          <label htmlFor="device-label">Label, such as “Ada’s laptop, asset 100”</label>
          <input
            id="device-label"
            value={form.draft}
            maxLength={255}
            autoFocus
            autoComplete="off"
            onChange={(event) => form.change(event.target.value)}
          />
          <p className="quiet">An empty label removes it. The number stays.</p>
        </div>
        {label !== shown && <p role="status">Another user has changed the label meanwhile; yours replaces it.</p>}
        {save.isError && <Failure error={save.error} />}
        <SubmitBar label="Save the label" busy="Saving…" isPending={save.isPending} onClose={onClose} />
      </form>
    </Dialog>
  );
}
