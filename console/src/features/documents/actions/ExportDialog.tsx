import { useState, type FormEvent } from "react";
import type { Schemas } from "../../../api/client";
import { Dialog } from "../../../ui/Dialog";
import { Failure } from "../../../ui/Failure";
import type { ActionProps } from "../selection";
import { useStartExport } from "./requests";
import { MOST_NAMED, toSelected } from "./selected";
import { nameSize } from "./words";

type Kind = Schemas["ExportKind"];
type Format = Schemas["ExportFormat"];

export const KINDS: Record<Kind, string> = {
  documents: "Documents: a row each, with all fields, custodians, tags and other columns",
  pages: "Pages: a row for each image",
  tags: "Tags: a row for each tag of a document, and who gave it",
  history: "History: a row for each change of a document",
};
export const FORMATS: Record<Format, string> = { csv: "CSV, for spreadsheets", jsonl: "JSON lines, for programs" };

/** Choose what is written of the chosen documents. The file is made in the background, and kept for 7 days. */
export function ExportDialog(props: ActionProps & { onClose: () => void }) {
  const { caseId, filters, selection, size, onClose } = props;
  const start = useStartExport(caseId);
  const [key] = useState(() => crypto.randomUUID());
  const query = toSelected(filters, selection);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const entered = new FormData(event.currentTarget);
    const [kind, format] = [entered.get("kind") as Kind, entered.get("format") as Format];
    // Another choice is another request; the same one again takes effect once.
    if (query) start.mutate({ key: `${key}-${kind}-${format}`, kind, format, filters: query }, { onSuccess: onClose });
  };
  return (
    <Dialog title={`Export ${nameSize(size)}`} open onClose={onClose}>
      {query === null ? (
        <>
          <p>
            At most {MOST_NAMED.toLocaleString()} documents can be named or left out one by one. Tag them first, then
            export those with the tag.
          </p>
          <Close onClose={onClose} />
        </>
      ) : (
        <form onSubmit={submit} className="export-form">
          <Radios legend="What the rows are" name="kind" labels={KINDS} />
          <Radios legend="Format" name="format" labels={FORMATS} />
          {start.isError && <Failure error={start.error} />}
          <div className="bar">
            <button type="submit" className="primary" disabled={start.isPending}>
              Export
            </button>
            <Close onClose={onClose} />
          </div>
        </form>
      )}
    </Dialog>
  );
}

function Close({ onClose }: { onClose: () => void }) {
  return (
    <button type="button" onClick={onClose}>
      Close
    </button>
  );
}

function Radios({ legend, name, labels }: { legend: string; name: string; labels: Record<string, string> }) {
  return (
    <fieldset>
      <legend>{legend}</legend>
      {Object.entries(labels).map(([value, label], index) => (
        <label key={value}>
          <input type="radio" name={name} value={value} defaultChecked={index === 0} /> {label}
        </label>
      ))}
    </fieldset>
  );
}
