import { useId, type ReactNode } from "react";

interface PanelProps {
  number: number;
  title: string;
  /** What the panel says when it is folded; it stays beside the title when it is open. */
  line: ReactNode;
  isOpen: boolean;
  /** Without it, the panel cannot be folded by hand. */
  onToggle?: (isOpen: boolean) => void;
  children?: ReactNode;
}

/** One of the five parts of the page: its title and line are always there, its body when there is something to do. */
export function Panel({ number, title, line, isOpen, onToggle, children }: PanelProps) {
  const [heading, body] = [useId(), useId()];
  return (
    <li className="panel" aria-labelledby={heading}>
      <div className="panel-head">
        <h2 id={heading}>
          <span className="quiet">{number}</span> {title}
        </h2>
        <div className="panel-line">{line}</div>
        {onToggle && (
          <button type="button" aria-expanded={isOpen} aria-controls={body} onClick={() => onToggle(!isOpen)}>
            {isOpen ? "Fold" : "Change"}
            <span className="unseen"> {title}</span>
          </button>
        )}
      </div>
      <div className="panel-body" id={body} hidden={!isOpen}>
        {isOpen && children}
      </div>
    </li>
  );
}
