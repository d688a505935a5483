import { useMutation } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { repeat } from "../api/repeat";
import { Dialog } from "./Dialog";
import { Failure } from "./Failure";

interface ConfirmDialogProps {
  /** What the button says that does it; the title asks it. */
  label: string;
  /** Send the request, with the key under which all attempts of this decision take effect once. */
  send: (key: string) => Promise<unknown>;
  /** Called after each attempt, also if it failed, whether or not the dialog is still open. */
  onSettled: () => unknown;
  onClose: () => void;
  /** Whether something has to be entered first. */
  isDisabled?: boolean;
  /** What happens. */
  children: ReactNode;
}

/** The question before a change: what happens, the button that does it, and what has refused it. */
export function ConfirmDialog({ label, send, onSettled, onClose, isDisabled, children }: ConfirmDialogProps) {
  const [key] = useState(() => crypto.randomUUID());
  const change = useMutation({ mutationFn: () => repeat(() => send(key)), onSettled });
  // Of this attempt: a dialog that was closed meanwhile does not close the one after it.
  const run = () => change.mutate(undefined, { onSuccess: onClose });
  return (
    <Dialog title={`${label}?`} open onClose={onClose}>
      {children}
      {change.isError && <Failure error={change.error} again={run} isByHand />}
      <div className="bar">
        <button type="button" className="primary" disabled={isDisabled || change.isPending} onClick={run}>
          {label}
        </button>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
