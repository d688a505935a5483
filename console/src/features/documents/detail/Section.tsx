import { useState, type ReactNode } from "react";

// Which sections are open stays the same from document to document.
const opened = new Set(["Family", "Other columns", "Production numbers"]);

/** A part of the panel that is folded by its heading; what it shows is read when it is opened. */
export function Section({ name, note, children }: { name: string; note?: ReactNode; children: ReactNode }) {
  const [isOpen, setOpen] = useState(opened.has(name));
  const toggle = (next: boolean) => {
    if (next) opened.add(name);
    else opened.delete(name);
    setOpen(next);
  };
  return (
    <details open={isOpen} onToggle={(event) => toggle(event.currentTarget.open)}>
      <summary>
        <h3>{name}</h3> {note !== undefined && <span className="quiet">{note}</span>}
      </summary>
      {isOpen && children}
    </details>
  );
}
