import { useQueryClient } from "@tanstack/react-query";
import { useId, useState, type ReactNode } from "react";
import { refreshCase, type Case } from "../../api/cases";
import { api } from "../../api/client";
import { announce } from "../../ui/LiveRegion";
import { ConfirmDialog } from "../../ui/ConfirmDialog";
import { Untrusted } from "../../ui/Untrusted";
import type { Act } from "./acts";

export const LABELS: Record<Act, string> = {
  rename: "Rename the case",
  close: "Close the case",
  reopen: "Reopen the case",
  hold: "Place a legal hold",
  lift: "Lift the legal hold",
  purge: "Purge the case",
  withdraw: "Withdraw the purge",
};

/** What each change does, before it is done. */
const EXPLAINED: Record<Act, string> = {
  rename: "Uploads under a former name still find the case, and no other case gets that name.",
  close:
    "Nothing is imported or changed in it until it is reopened. It can be read and exported, and what runs goes on to its end.",
  reopen: "Files can be imported again, and documents changed.",
  hold: "Nothing of the case can be removed until the hold is lifted: no undo of an import, no deletion of a volume or of a period of custody. Imports and reviews go on.",
  lift: "Imports can be undone again, and volumes and periods of custody deleted.",
  purge:
    "Everything of the case is deleted for good from the day on that you choose: documents, files, productions, reports. The case is closed now. Until the purge begins, it can be withdrawn.",
  withdraw: "Nothing is deleted. The case stays closed, and can be reopened.",
};

interface CaseDialogProps {
  of: Case;
  act: Act;
  onClose: () => void;
}

/** The question before a change of a case, with what has to be entered for it. */
export function CaseDialog({ of, act, onClose }: CaseDialogProps) {
  const queries = useQueryClient();
  const [text, setText] = useState(act === "rename" ? of.name : "");
  const [day, setDay] = useState("");
  const entered = text.trim();
  const isReady = act === "rename" ? entered !== "" && entered !== of.name : act === "hold" ? entered !== "" : true;
  const isConfirmed = act !== "purge" || text === of.name;
  const send = async (key: string) => {
    await request(of, act, key, entered, day);
    announce(`${LABELS[act]}: done.`);
  };
  return (
    <ConfirmDialog
      label={LABELS[act]}
      send={send}
      onSettled={() => refreshCase(queries, of.id)}
      onClose={onClose}
      isDisabled={!isReady || !isConfirmed}
    >
      <p>{EXPLAINED[act]}</p>
      {act === "hold" && of.purge && <p>It withdraws the requested purge.</p>}
      {act === "rename" && <Field label="Name" value={text} most={255} onChange={setText} />}
      {act === "hold" && (
        <Field label="Reason, such as the order of a court" value={text} most={1000} onChange={setText} />
      )}
      {act === "purge" && (
        <>
          <Field
            label={
              <>
                Enter the name of the case, “<Untrusted text={of.name} />”
              </>
            }
            value={text}
            most={255}
            onChange={setText}
          />
          <Field label="First day of the purge, in UTC; empty: today" value={day} type="date" onChange={setDay} />
        </>
      )}
    </ConfirmDialog>
  );
}

interface FieldProps {
  label: ReactNode;
  value: string;
  type?: "text" | "date";
  most?: number;
  onChange: (value: string) => void;
}

function Field({ label, value, type = "text", most, onChange }: FieldProps) {
  const id = useId();
  return (
    <p className="field">
      <label htmlFor={id}>{label}</label>
      <br />
      <input
        id={id}
        type={type}
        value={value}
        maxLength={most}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => onChange(event.target.value)}
      />
    </p>
  );
}

/** Send a change of the case as it is shown; one that another user has changed meanwhile is refused. */
async function request(of: Case, act: Act, key: string, entered: string, day: string): Promise<void> {
  const path = { caseId: of.id };
  const header = { "Idempotency-Key": key };
  if (act === "withdraw") return void (await api.DELETE("/cases/{caseId}/purge", { params: { path, header } }));
  if (act === "purge") {
    const body = { confirm: of.name, ...(day && { after: day }) };
    return void (await api.POST("/cases/{caseId}/purge", { params: { path, header }, body }));
  }
  const body = {
    rename: { name: entered },
    close: { status: "closed" as const },
    reopen: { status: "open" as const },
    hold: { hold: { reason: entered } },
    lift: { hold: null },
  }[act];
  const params = { path, header: { ...header, "If-Match": `"${of.version}"` } };
  await api.PATCH("/cases/{caseId}", { params, body });
}
