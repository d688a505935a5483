import type { ReactNode } from "react";

interface SubmitBarProps {
  /** What the form does, and what is said while it does. */
  label: string;
  busy: string;
  isPending: boolean;
  isDisabled?: boolean;
  onClose: () => void;
  children?: ReactNode;
}

/** The end of a form in a dialog: the button that says what it does, and the way out. */
export const SubmitBar = ({ label, busy, isPending, isDisabled, onClose, children }: SubmitBarProps) => (
  <div className="bar">
    <button type="submit" className="primary" disabled={isPending || isDisabled}>
      {isPending ? busy : label}
    </button>
    <button type="button" onClick={onClose}>
      Close
    </button>
    {children}
  </div>
);
