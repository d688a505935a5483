import { useId, type ReactNode } from "react";
import type { Schemas } from "../../api/client";
import { ApiError } from "../../api/client";
import { Failure } from "../../ui/Failure";
import { toWords } from "../../ui/messages";
import { Skeleton } from "../../ui/Skeleton";
import { Rows } from "./Rows";
import { Panel } from "./Panel";
import type { Options } from "./kept";
import { DatesAndLists } from "./DatesAndLists";
import { TextSetting } from "./TextSetting";
import { count } from "../../ui/values";
import { CERTAINTY } from "./words";
import { nameSign } from "../../ui/signs";

type Preview = Schemas["ImportPreview"];
type Finding = Schemas["PreviewFinding"];

interface ReadingPanelProps {
  preview: Preview | null;
  error: unknown;
  isLoading: boolean;
  /** Why there is nothing to show yet. */
  waiting: string;
  options: Options;
  isOpen: boolean;
  canChange: boolean;
  onChange: (options: Options) => void;
  onToggle: (isOpen: boolean) => void;
  again: () => void;
  /** The load files of a volume and how their paths are read. */
  children?: ReactNode;
}

/** How the file is read, changeable, with its first rows as they are read now. */
export function ReadingPanel(props: ReadingPanelProps) {
  const { preview, error, isLoading, waiting, isOpen, onToggle } = props;
  const columns = error instanceof ApiError ? error.problem.columns : null;
  const hasBody = preview !== null || error !== null || Boolean(props.children);
  return (
    <Panel
      number={3}
      title="Format"
      isOpen={isOpen && (hasBody || isLoading)}
      onToggle={hasBody ? onToggle : undefined}
      line={preview ? <ReadingLine preview={preview} /> : <span className="quiet">{waiting}</span>}
    >
      {props.children}
      {isLoading && !preview && <Skeleton rows={4} />}
      {error !== null && !columns && <Failure error={error} again={props.again} isByHand />}
      {columns && <ChooseId {...props} columns={columns} />}
      {(preview || error !== null) && <Settings {...props} />}
      {preview && <Rows preview={preview} />}
    </Panel>
  );
}

/** No column is recognised as the id: the user says which one it is, by its number, as names may repeat. */
function ChooseId({ columns, options, canChange, onChange }: ReadingPanelProps & { columns: string[] }) {
  const map = (number: string) => {
    const key = columns.includes(number) ? columns[Number(number) - 1]! : number;
    onChange({ ...options, columns: { ...options.columns, [key]: "control_number" } });
  };
  return (
    <div className="notice bad" role="alert">
      <strong>No column is recognised as the control number</strong>
      <p>Choose the column that has it. If the first line of the file has no names of columns, say so below.</p>
      <label htmlFor="id-column">Control numbers are in</label>{" "}
      <select id="id-column" value="" disabled={!canChange} onChange={(event) => map(event.target.value)}>
        <option value="">choose the column</option>
        {columns.map((name, index) => (
          <option key={index} value={index + 1}>
            {index + 1}: {name}
          </option>
        ))}
      </select>
    </div>
  );
}

function ReadingLine({ preview }: { preview: Preview }) {
  const { encoding, delimiter, qualifier, newline } = preview.detection;
  if (preview.images)
    return (
      <span>
        {preview.images.kind.toUpperCase()} · {count(preview.images.pages, "page")}
      </span>
    );
  const unsure = [encoding, delimiter].filter((each) => each.certainty === "guess").length;
  return (
    <span>
      {nameSign(encoding.value).toUpperCase()} ({CERTAINTY[encoding.certainty].toLowerCase()}) · delimiter{" "}
      {nameSign(delimiter.value)} · qualifier {nameSign(qualifier.value)} · line break in a cell{" "}
      {nameSign(newline.value)}
      {unsure > 0 && <span className="mark"> · {unsure === 1 ? "1 guess" : `${unsure} guesses`} to look at</span>}
    </span>
  );
}

const ENCODINGS: Schemas["PreviewChoice"][] = ["utf-8", "utf-16", "cp1252"].map((value) => ({
  value,
  label: value,
  found: value,
}));
const SIGNS: Schemas["PreviewChoice"][] = ["concordance", "comma", "tab", "pipe", "semicolon", "thorn", "quote"].map(
  (value) => ({ value, label: value, found: null }),
);

function Settings({ preview, options, onChange, canChange }: ReadingPanelProps) {
  const found = preview?.detection;
  const set = (name: keyof Options, value: string | undefined) => onChange({ ...options, [name]: value ?? null });
  const kinds = [
    ["encoding", "Encoding", ENCODINGS],
    ["delimiter", "Delimiter", SIGNS],
    ["qualifier", "Qualifier", SIGNS],
    ["newline", "Line break in a cell", SIGNS],
  ] as const;
  return (
    <fieldset className="settings" disabled={!canChange}>
      <legend className="unseen">How the file is read</legend>
      {kinds.map(([name, label, usual]) => (
        <SignSetting
          key={name}
          label={label}
          finding={found?.[name]}
          choices={found?.[name].choices?.length ? found[name].choices : usual}
          given={options[name] ?? null}
          isSign={name !== "encoding"}
          onChange={(value) => set(name, value)}
        />
      ))}
      <HeaderSetting options={options} finding={found?.header} onChange={onChange} />
      <DatesAndLists
        options={options}
        dateOrder={found?.dateOrder}
        columns={preview?.columns ?? []}
        onChange={onChange}
      />
    </fieldset>
  );
}

interface SignSettingProps {
  label: string;
  finding: Finding | undefined;
  choices: Schemas["PreviewChoice"][];
  given: string | null;
  isSign: boolean;
  onChange: (value: string | undefined) => void;
}

/** A menu of what was found and of usual values; any other character can be entered, too. */
function SignSetting({ label, finding, choices, given, isSign, onChange }: SignSettingProps) {
  const id = useId();
  const isOther = given !== null && !choices.some((each) => each.value === given);
  const automatic = finding && given === null ? nameSign(finding.value) : "Detect it";
  return (
    <div className="setting">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        value={given === null ? "" : isOther ? "?" : given}
        onChange={(event) => onChange(event.target.value === "?" ? "|" : event.target.value || undefined)}
      >
        <option value="">{automatic}</option>
        {choices.map((each) => (
          <option key={each.value} value={each.value}>
            {each.label}
          </option>
        ))}
        {isSign && <option value="?">Another character…</option>}
      </select>
      {isOther && isSign && (
        <TextSetting
          label={`${label}: character or its decimal code`}
          value={given}
          maxLength={16}
          onChange={onChange}
        />
      )}
      {finding && (
        <span className={finding.certainty === "guess" ? "mark small" : "quiet small"}>
          {CERTAINTY[finding.certainty]}. {finding.certainty !== "given" && finding.why}
        </span>
      )}
    </div>
  );
}

interface HeaderSettingProps {
  options: Options;
  finding: Finding | undefined;
  onChange: (options: Options) => void;
}

function HeaderSetting({ options, finding, onChange }: HeaderSettingProps) {
  const id = useId();
  const hasHeader = options.header !== false;
  return (
    <div className="setting">
      <label htmlFor={id}>Names of the columns</label>
      <select
        id={id}
        value={hasHeader ? "yes" : "no"}
        onChange={(event) => onChange({ ...options, header: event.target.value === "yes", headerLine: null })}
      >
        <option value="yes">in a line of the file</option>
        <option value="no">not in the file</option>
      </select>
      {hasHeader && (
        <TextSetting
          label="Line of the names"
          value={options.headerLine ? String(options.headerLine) : ""}
          placeholder="1"
          isNumber
          onChange={(value) => onChange({ ...options, headerLine: value ? Number(value) : null })}
        />
      )}
      {finding && finding.certainty !== "given" && <span className="quiet small">{toWords(finding.why)}</span>}
    </div>
  );
}
