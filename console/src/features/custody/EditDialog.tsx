import { useState, type FormEvent } from "react";
import { ApiError, api, data, type Schemas } from "../../api/client";
import { Dialog } from "../../ui/Dialog";
import { announce } from "../../ui/LiveRegion";
import { draftOf, findFaults, toNewPeriod, toPatch, useDraft, type Kept, type PeriodDraft } from "./drafts";
import { KeptDraft, PeriodFields } from "./PeriodFields";
import { useDecision } from "./queries";
import { Refused } from "./RecordDialog";
import type { Period } from "./segments";
import { ChangedPeriod } from "./ChangedPeriod";
import { SubmitBar } from "./SubmitBar";

interface EditDialogProps {
  period: Period;
  kept: Kept;
  onEdit: (period: Period) => void;
  onRecord: (draft: PeriodDraft) => void;
  onClose: () => void;
}

/** What is edited, and the period as it was read when the edit began. */
interface Edit {
  base: Period;
  draft: PeriodDraft;
}

interface Wish {
  patch: Schemas["PeriodPatch"];
  version: number;
}

/** Correct a period, if it is still as it was read; otherwise both versions are shown. */
export function EditDialog({ period, kept, onEdit, onRecord, onClose }: EditDialogProps) {
  const form = useDraft<Edit>(kept, `edit ${period.id}`, () => ({ base: period, draft: draftOf(period) }));
  const { base, draft } = form.draft;
  const [isSent, setSent] = useState(false);
  const path = { periodId: period.id };
  const save = useDecision(async ({ patch, version }: Wish, key: string) => {
    const header = { "If-Match": `"${version}"`, "Idempotency-Key": key };
    return data(await api.PATCH("/custody-periods/{periodId}", { params: { path, header }, body: patch }));
  });
  const faults = findFaults(draft);
  const patch = toPatch(base, draft);
  const isSame = Object.keys(patch).length === 0;
  const send = (version: number) =>
    save.mutate(
      { patch, version },
      {
        onSuccess: () => {
          form.drop();
          announce("The period was changed.");
          onClose();
        },
      },
    );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setSent(true);
    if (Object.keys(faults).length === 0 && !isSame) send(base.version);
  };
  const isStale = save.error instanceof ApiError && [404, 412].includes(save.error.status);
  const take = (theirs: Period) => {
    save.reset();
    form.change({ base: theirs, draft: draftOf(theirs) });
  };
  return (
    <Dialog title={`Edit period ${period.id}`} open onClose={onClose}>
      <form className="form" onSubmit={submit} noValidate>
        <KeptDraft isKept={form.isKept} isDirty={form.isDirty} onAgain={form.again} />
        <PeriodFields
          draft={draft}
          faults={isSent ? faults : {}}
          onChange={(next) => form.change({ base, draft: next })}
        />
        {save.isError && isStale && (
          <ChangedPeriod
            base={base}
            patch={patch}
            holder={draft.holder?.name ?? null}
            onSave={(theirs) => send(theirs.version)}
            onTake={take}
            onRecord={() => onRecord(draft)}
          />
        )}
        {save.isError && !isStale && (
          <Refused
            error={save.error}
            deviceId={base.deviceId}
            wish={toRequested(base, draft)}
            draft={draft}
            own={base.id}
            onChange={(next) => form.change({ base, draft: next })}
            onEdit={onEdit}
          />
        )}
        <SubmitBar
          label="Save the period"
          busy="Saving…"
          isPending={save.isPending}
          isDisabled={isSame}
          onClose={onClose}
        >
          {isSame && <span className="quiet">Nothing is changed yet.</span>}
        </SubmitBar>
      </form>
    </Dialog>
  );
}

function toRequested(base: Period, draft: PeriodDraft): { begin: string; end: string | null } {
  if (Object.keys(findFaults(draft)).length > 0) return base;
  const { begin, end } = toNewPeriod(base.deviceId, draft);
  return { begin, end };
}
