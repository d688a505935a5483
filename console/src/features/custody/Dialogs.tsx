import { useRef, useState } from "react";
import { api, data } from "../../api/client";
import { newDraft, type Kept, type PeriodDraft } from "./drafts";
import { EditDialog } from "./EditDialog";
import { HandOnDialog } from "./HandOnDialog";
import { LabelDialog } from "./LabelDialog";
import { RecordDialog } from "./RecordDialog";
import { RemoveDialog } from "./RemoveDialog";
import type { Period, Segment } from "./segments";
import { readTime, toApi } from "./times";
import { isLasting } from "./words";

type Opened =
  | { kind: "record"; begin: () => PeriodDraft }
  | { kind: "edit"; period: Period }
  | { kind: "remove"; period: Period }
  | { kind: "hand-on"; period: Period }
  | { kind: "label" };

/** Which dialog of a device is open, and what was typed into each. */
export function useDialogs(deviceId: number) {
  const kept = useRef<Kept>(new Map());
  const [opened, open] = useState<Opened | null>(null);
  const [isFinding, setFinding] = useState(false);
  const [error, setError] = useState<unknown>(null);
  /** Record a period, by default from now on, or in a gap. */
  const record = (gap: Segment | null) => {
    // A gap that was chosen is another wish than what was typed before.
    if (gap) kept.current.delete("record");
    const begin = gap ? Math.ceil(gap.from / 1_000) * 1_000 : lastSecond();
    const end = gap && !isLasting(gap) ? gap.to : null;
    open({ kind: "record", begin: () => newDraft(begin, end) });
  };
  /** Open the dialog with the period that is read now: it is the one that is expected to end. */
  const handOn = async () => {
    setFinding(true);
    setError(null);
    try {
      const period = await findHolding(deviceId);
      // Not over a dialog that was opened meanwhile.
      open((now) => now ?? (period ? { kind: "hand-on", period } : fromNow()));
    } catch (fault) {
      setError(fault);
    } finally {
      setFinding(false);
    }
  };
  return { kept: kept.current, opened, open, record, handOn, isFinding, error };
}

/** Record a period from now on. */
const fromNow = (): Opened => {
  const begin = lastSecond();
  return { kind: "record", begin: () => newDraft(begin, null) };
};

const lastSecond = () => Math.floor(Date.now() / 1_000) * 1_000;

/** Return the period in which a device is held now, or null. */
async function findHolding(deviceId: number): Promise<Period | null> {
  const now = Date.now();
  // Of a device that is held, the last period contains the present, unless one in the future is recorded.
  const query = { deviceId, from: toApi(now), limit: 1 } as const;
  const [first] = data(await api.GET("/custody-periods", { params: { query } })).items;
  return first && readTime(first.begin) <= now + CLOCKS_MS ? first : null;
}

/** By how much the clock of this computer may be behind that of the server. */
const CLOCKS_MS = 300_000;

interface DialogsProps {
  deviceId: number;
  label: string | null;
  dialogs: ReturnType<typeof useDialogs>;
}

export function Dialogs({ deviceId, label, dialogs }: DialogsProps) {
  const { opened, open, kept } = dialogs;
  const close = () => open(null);
  const edit = (period: Period) => open({ kind: "edit", period });
  if (!opened) return null;
  switch (opened.kind) {
    case "record":
      return <RecordDialog deviceId={deviceId} begin={opened.begin} kept={kept} onEdit={edit} onClose={close} />;
    case "edit":
      return (
        <EditDialog
          key={opened.period.id}
          period={opened.period}
          kept={kept}
          onEdit={edit}
          onRecord={(draft) => {
            kept.delete(`edit ${opened.period.id}`);
            kept.delete("record");
            open({ kind: "record", begin: () => draft });
          }}
          onClose={close}
        />
      );
    case "remove":
      return <RemoveDialog period={opened.period} onClose={close} />;
    case "hand-on":
      return <HandOnDialog period={opened.period} kept={kept} onRecord={() => dialogs.record(null)} onClose={close} />;
    case "label":
      return <LabelDialog deviceId={deviceId} label={label} kept={kept} onClose={close} />;
  }
}
