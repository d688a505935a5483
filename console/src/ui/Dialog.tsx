import { useEffect, useId, useLayoutEffect, useRef, type ReactNode } from "react";

/** The browser's own dialog: it holds the focus, closes with Escape and makes the page behind it inert. */
export function Dialog(props: { title: string; open: boolean; onClose?: () => void; children: ReactNode }) {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const dialog = element.current!;
    if (props.open && !dialog.open) dialog.showModal();
    if (!props.open && dialog.open) dialog.close();
  }, [props.open]);
  // One that is taken from the page while it is open would leave the focus nowhere: closed, it gives it back.
  useLayoutEffect(() => {
    const dialog = element.current!;
    return () => dialog.close();
  }, []);
  return (
    <dialog
      ref={element}
      aria-labelledby={heading}
      // A dialog closes a moment before the browser says so: a key that opens it again would be lost meanwhile.
      onCancel={(event) => {
        if (event.target !== element.current) return;
        // Only where nothing may close it: after it, the browser lets one go back without being asked.
        if (props.onClose) props.onClose();
        else event.preventDefault();
      }}
      onClose={() => {
        if (element.current?.open) return;
        if (props.onClose) props.onClose();
        // A second Escape cannot be prevented.
        else element.current?.showModal();
      }}
    >
      <h2 id={heading}>{props.title}</h2>
      {props.children}
    </dialog>
  );
}
