// What is typed into the dialogs of a device. It is kept while the page is open, also when a dialog is closed.
import { useState } from "react";
import type { Schemas } from "../../api/client";
import type { Period } from "./segments";
import { readField, readTime, toApi, toField, type LocalTime } from "./times";

/** Who is chosen: a custodian, null for one that is not recorded, or undefined until one of these is chosen. */
export type Choice = { id: number; name: string; case?: string } | null | undefined;

export interface PeriodDraft {
  begin: LocalTime;
  /** Whether the device is still held; `end` keeps what was typed. */
  isOpen: boolean;
  end: LocalTime;
  holder: Choice;
  note: string;
}

const NOTHING: LocalTime = { text: "", isSecond: false };

export const draftOf = (period: Period): PeriodDraft => ({
  begin: toField(readTime(period.begin)),
  isOpen: period.end === null,
  end: period.end === null ? NOTHING : toField(readTime(period.end)),
  holder: holderOf(period),
  note: period.note ?? "",
});

export const holderOf = (period: Period): Choice =>
  period.custodianId === null ? null : { id: period.custodianId, name: period.custodian ?? "" };

/** Return a draft of a new period; without an end it is still held. */
export const newDraft = (begin: number, end: number | null): PeriodDraft => ({
  begin: toField(begin),
  isOpen: end === null,
  end: end === null ? NOTHING : toField(end),
  holder: undefined,
  note: "",
});

/** What keeps a draft from being sent, by field. */
export type Faults = Partial<Record<"begin" | "end" | "holder", string>>;

export function findFaults(draft: PeriodDraft): Faults {
  const [begin, end] = [readField(draft.begin), readField(draft.end)];
  const faults: Faults = {};
  if (!begin) faults.begin = "Enter the date and the time at which the period begins.";
  if (!draft.isOpen && !end) faults.end = "Enter the date and the time at which the period ends.";
  if (!draft.isOpen && begin && end && end.at <= begin.at) faults.end = "The end must be after the begin.";
  if (draft.holder === undefined) faults.holder = "Choose who holds the device, or “Not recorded”.";
  return faults;
}

/** Return a draft without faults as the API takes it. */
export function toNewPeriod(deviceId: number, draft: PeriodDraft): Schemas["NewPeriod"] {
  return {
    deviceId,
    begin: toApi(readField(draft.begin)!.at),
    end: draft.isOpen ? null : toApi(readField(draft.end)!.at),
    custodianId: draft.holder?.id ?? null,
    note: draft.note.trim() || null,
  };
}

/** Return what a draft changes of the period that it was made from. What is not touched keeps its microseconds. */
export function toPatch(base: Period, draft: PeriodDraft): Schemas["PeriodPatch"] {
  const [before, after] = [toNewPeriod(base.deviceId, draftOf(base)), toNewPeriod(base.deviceId, draft)];
  const patch: Schemas["PeriodPatch"] = {};
  if (before.begin !== after.begin) patch.begin = after.begin;
  if (before.end !== after.end) patch.end = after.end;
  if (before.custodianId !== after.custodianId) patch.custodianId = after.custodianId;
  if ((base.note ?? "") !== draft.note) patch.note = after.note;
  return patch;
}

/** The drafts of a page, by the dialog that has each. */
export type Kept = Map<string, unknown>;

/** A draft that outlives its dialog; `isKept` says that an earlier one is shown. */
export function useDraft<Draft>(kept: Kept, name: string, begin: () => Draft) {
  const [isKept, setKept] = useState(kept.has(name));
  const [draft, setDraft] = useState<Draft>(() => (kept.get(name) as Draft | undefined) ?? begin());
  const [isDirty, setDirty] = useState(isKept);
  const change = (next: Draft) => {
    kept.set(name, next);
    setDraft(next);
    setDirty(true);
  };
  const drop = () => {
    kept.delete(name);
    setDirty(false);
  };
  const again = () => {
    drop();
    setKept(false);
    setDraft(begin());
  };
  return { draft, change, drop, again, isKept, isDirty };
}
