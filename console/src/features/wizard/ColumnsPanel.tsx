import { useDeferredValue, useState } from "react";
import type { Schemas } from "../../api/client";
import { nameReason } from "../../ui/codes";
import { Untrusted } from "../../ui/Untrusted";
import type { Options } from "./kept";
import { chooseColumns, mapColumn } from "./options";
import { Panel } from "./Panel";
import { Profiles } from "./Profiles";
import { toWords } from "../../ui/messages";
import { cut } from "./Rows";
import { explainColumn, FIELDS, isField, isMarked, nameField, summarizeColumns, type FieldName } from "./words";

type Column = Schemas["PreviewColumn"];

interface ColumnsPanelProps {
  preview: Schemas["ImportPreview"] | null;
  options: Options;
  profile: string | null;
  isOpen: boolean;
  canChange: boolean;
  onChange: (options: Options, profile?: string | null) => void;
  onToggle: (isOpen: boolean) => void;
}

const MANY = 50;

/** Which field each column feeds and why, with samples to judge it by. */
export function ColumnsPanel(props: ColumnsPanelProps) {
  const { preview, isOpen, onToggle } = props;
  const columns = preview && !preview.images ? preview.columns : [];
  const marked = columns.filter(isMarked).length;
  return (
    <Panel
      number={4}
      title="Columns"
      isOpen={isOpen && columns.length > 0}
      onToggle={columns.length > 0 ? onToggle : undefined}
      line={
        preview === null ? (
          <span className="quiet">follow from the first rows</span>
        ) : preview.images ? (
          <span className="quiet">an image load file has no columns to map</span>
        ) : (
          <span>
            {summarizeColumns(columns, preview.columnCount)} {marked > 0 && <span className="mark">●</span>}
          </span>
        )
      }
    >
      {preview && <Mapping {...props} preview={preview} />}
    </Panel>
  );
}

function Mapping({
  preview,
  options,
  profile,
  canChange,
  onChange,
}: ColumnsPanelProps & { preview: Schemas["ImportPreview"] }) {
  const [entered, setEntered] = useState("");
  const words = useDeferredValue(entered);
  const shown = chooseColumns(preview.columns, words, preview.columnCount);
  return (
    <>
      <Profiles preview={preview} options={options} profile={profile} canChange={canChange} onChange={onChange} />
      {preview.warnings.map((each) => (
        <p className="notice warn" key={`${each.code} ${each.column}`}>
          <Untrusted text={each.column && cut(each.column)} />: <Untrusted text={toWords(each.message)} />
        </p>
      ))}
      {preview.columns.length > MANY && (
        <div className="bar">
          <input
            type="search"
            aria-label="Find a column"
            placeholder="Find a column"
            value={entered}
            onChange={(event) => setEntered(event.target.value)}
          />
          <span className="quiet">
            {shown.length.toLocaleString("en-US")} of {preview.columnCount.toLocaleString("en-US")} columns
          </span>
        </div>
      )}
      <div className="scroll columns" tabIndex={0} role="region" aria-label="Columns and their fields">
        <table className="list">
          <thead>
            <tr>
              <th scope="col">Column</th>
              <th scope="col">Samples</th>
              <th scope="col">Field</th>
              <th scope="col">Why</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((column) => (
              <Row
                key={column.number}
                column={column}
                isGiven={isGiven(options, column)}
                canChange={canChange}
                onChange={(field) => onChange(mapColumn(options, column, field, preview.columns))}
              />
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

const isGiven = (options: Options, column: Column) =>
  options.columns?.[String(column.number)] !== undefined || options.columns?.[column.name] !== undefined;

interface RowProps {
  column: Column;
  isGiven: boolean;
  canChange: boolean;
  onChange: (field: FieldName | undefined) => void;
}

function Row({ column, isGiven: isChosen, canChange, onChange }: RowProps) {
  return (
    <tr>
      <th scope="row">
        <Untrusted text={cut(column.name)} /> {isMarked(column) && <span className="mark">●</span>}
      </th>
      <td>
        <Samples samples={column.samples} />
      </td>
      <td>
        <select
          aria-label={`Field of column ${column.number}, ${cut(column.name, 60)}`}
          value={column.field ?? "property"}
          disabled={!canChange}
          onChange={({ target }) => onChange(isField(target.value) ? target.value : undefined)}
        >
          {column.field !== null && !isField(column.field) && (
            <option value={column.field}>{nameField(column.field)}</option>
          )}
          <option value="property">None: keep under its name</option>
          {FIELDS.map(([subject, fields]) => (
            <optgroup key={subject} label={subject}>
              {fields.map(([field, label]) => (
                <option key={field} value={field}>
                  {label}
                </option>
              ))}
            </optgroup>
          ))}
          {isChosen && <option value="auto">as the name says</option>}
        </select>
      </td>
      <td className={isMarked(column) ? "mark" : "quiet"}>{explainColumn(column)}</td>
    </tr>
  );
}

function Samples({ samples }: { samples: Schemas["PreviewSample"][] }) {
  if (samples.length === 0) return <span className="quiet">blank</span>;
  return samples.map((each, index) => (
    <span key={index}>
      {index > 0 && " · "}
      <Untrusted text={cut(each.text, 60)} />
      {each.code && <span className="mark"> {nameReason(each.code)}</span>}
    </span>
  ));
}
