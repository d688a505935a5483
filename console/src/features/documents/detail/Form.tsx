import { useEffect, useRef, type FormEvent, type RefObject } from "react";
import { Failure } from "../../../ui/Failure";
import { count } from "../../../ui/values";
import { Control } from "./Control";
import { countChanges, keepRefusals, listChanged, type Draft } from "./draft";
import { FIELDS, labelOf, placeOf, type Exhibit } from "./fields";
import { NamesControl } from "./NamesControl";
import { PropertyControls } from "./PropertyControls";
import { Summary } from "./Summary";
import { changeWork, getWork, type Work } from "./work";

interface Props {
  id: number;
  work: Work;
  /** The document as it was read last. */
  now: Exhibit | undefined;
  onSave: () => void;
  onStop: () => void;
}

/** The controls of a document, and below them what would be saved. */
export function Form({ id, work, now, onSave, onStop }: Props) {
  const { draft, faults, isSaving } = work;
  const form = useRef<HTMLFormElement>(null);
  useFocus(form, isSaving ? 0 : work.failures);
  const changes = countChanges(draft);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSave();
  };
  const onDraft = (how: (draft: Draft) => Draft) => {
    const current = getWork(id);
    if (!current || current.isSaving) return;
    const changed = how(current.draft);
    changeWork(id, { draft: changed, faults: keepRefusals(current.faults, current.draft, changed) });
  };
  return (
    <form ref={form} onSubmit={submit} aria-label="Edit the document">
      <Newer draft={draft} now={now} />
      <fieldset className="plain-fieldset" disabled={isSaving}>
        {FIELDS.map(({ name, label }) => (
          <Control
            key={name}
            draft={draft}
            place={placeOf(name)}
            label={label}
            refused={faults.get(placeOf(name))}
            onDraft={onDraft}
          />
        ))}
        <NamesControl
          draft={draft}
          list="custodians"
          label="Custodians"
          one="custodian"
          refused={faults.get("custodians")}
          onDraft={onDraft}
        />
        <NamesControl draft={draft} list="tags" label="Tags" one="tag" refused={faults.get("tags")} onDraft={onDraft} />
        <PropertyControls draft={draft} faults={faults} onDraft={onDraft} />
      </fieldset>
      <footer>
        {work.error !== null && <Failure error={work.error} again={onSave} isByHand />}
        {changes > 0 && (
          <details open className="changes">
            <summary>{isSaving ? "What is being saved" : `What changes: ${count(changes, "value")}`}</summary>
            <Summary draft={draft} />
          </details>
        )}
        <div className="bar">
          <button type="submit" className="primary" disabled={isSaving || changes === 0}>
            {isSaving ? "Saving…" : `Save ${count(changes, "change")}`}
          </button>
          <button type="button" disabled={isSaving} onClick={onStop}>
            Stop editing
          </button>
          <span className="quiet">{changes === 0 ? "Nothing is changed yet." : "Ctrl+Enter saves."}</span>
        </div>
      </footer>
    </form>
  );
}

/** That others have saved something since: known before the attempt to save. */
function Newer({ draft, now }: { draft: Draft; now: Exhibit | undefined }) {
  if (!now || now.version <= draft.base.version) return null;
  const changed = listChanged(draft.base, now, draft.texts.keys());
  return (
    <p className="notice" role="status">
      The document was changed since you began.{" "}
      {changed.length > 0
        ? `${changed.map(labelOf).join(", ")}: so have you. Both are shown when you save.`
        : "Your changes are about other values, and can be saved."}
    </p>
  );
}

/** Put the focus on the first control and, after an attempt to save, on the first value that is refused. */
function useFocus(form: RefObject<HTMLFormElement | null>, failures: number) {
  useEffect(() => {
    const find = (selector: string) => form.current?.querySelector<HTMLElement>(selector);
    if (failures === 0) find("input, textarea")?.focus();
    else (find("[aria-invalid=true]") ?? find("footer .primary"))?.focus();
  }, [form, failures]);
}
