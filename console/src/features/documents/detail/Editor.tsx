import { useEffect, type RefObject } from "react";
import type { Exhibit } from "./fields";
import { Form } from "./Form";
import { EditConflict } from "./EditConflict";
import { rebase } from "./draft";
import { changeWork, hasChanges, type Work } from "./work";

interface Props {
  id: number;
  work: Work;
  /** The document as it was read last. */
  now: Exhibit | undefined;
  heading: RefObject<HTMLHeadingElement | null>;
  onSave: () => void;
  onStop: () => void;
}

/** The form, or what others have saved in the meantime. */
export function Editor({ id, work, now, heading, onSave, onStop }: Props) {
  const { draft, conflict } = work;
  const isUntouched = !hasChanges(work);
  useEffect(() => {
    // Nothing is entered yet: the form begins with what is there now.
    if (now && isUntouched && now.version > draft.base.version)
      changeWork(id, { draft: rebase(draft, now, new Map()) });
  }, [id, now, draft, isUntouched]);
  useEffect(() => {
    const title = heading.current;
    return () => title?.focus();
  }, [heading]);
  if (conflict) return <EditConflict {...{ id, draft, conflict, onSave }} />;
  return <Form {...{ id, work, now, onSave, onStop }} />;
}
