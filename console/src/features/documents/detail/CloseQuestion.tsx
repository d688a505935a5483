import { Dialog } from "../../../ui/Dialog";
import { count } from "../../../ui/values";
import { countChanges, type Draft } from "./draft";
import { Summary } from "./Summary";

interface Props {
  draft: Draft;
  onSave: () => void;
  onDrop: () => void;
  onStay: () => void;
}

/** The question before what was entered is dropped. */
export function CloseQuestion({ draft, onSave, onDrop, onStay }: Props) {
  return (
    <Dialog title="Your changes are not saved" open onClose={onStay}>
      <Summary draft={draft} />
      <div className="bar">
        <button type="button" className="primary" autoFocus onClick={onStay}>
          Go on editing
        </button>
        <button type="button" onClick={onSave}>
          Save {count(countChanges(draft), "change")}
        </button>
        <button type="button" onClick={onDrop}>
          Drop the changes
        </button>
      </div>
    </Dialog>
  );
}
