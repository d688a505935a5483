import { useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from "react";

interface MenuProps {
  label: string;
  /** How many filters of this menu are in use. */
  active: number;
  /** What stands in the open menu; `close` puts the focus back on its button. */
  children: (close: () => void) => ReactNode;
}

/** A button with a panel of filters below it. Escape closes it, and so does a click elsewhere. */
export function Menu({ label, active, children }: MenuProps) {
  const element = useRef<HTMLDetailsElement>(null);
  const [isOpen, setOpen] = useState(false);
  const close = () => {
    setOpen(false);
    element.current?.querySelector("summary")?.focus();
  };
  useEffect(() => {
    if (!isOpen) return;
    const onPointer = (event: PointerEvent) => {
      if (event.target instanceof Node && !element.current?.contains(event.target)) setOpen(false);
    };
    addEventListener("pointerdown", onPointer);
    return () => removeEventListener("pointerdown", onPointer);
  }, [isOpen]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !isOpen) return;
    event.stopPropagation();
    close();
  };
  return (
    <details
      ref={element}
      className="menu"
      name="document-filters"
      open={isOpen}
      onToggle={(event) => setOpen(event.currentTarget.open)}
      onKeyDown={onKeyDown}
    >
      <summary>
        {label}
        {active > 0 && <span className="unseen"> ({active} in use)</span>}
        {active > 0 && <span aria-hidden="true">&nbsp;· {active}</span>}
      </summary>
      {isOpen && <div className="menu-panel">{children(close)}</div>}
    </details>
  );
}
