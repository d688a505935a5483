import { useEffect, useRef, useState } from "react";
import { Link } from "wouter";
import type { Schemas } from "../../api/client";
import { nameReason } from "../../ui/codes";
import { Failure } from "../../ui/Failure";
import { Skeleton } from "../../ui/Skeleton";
import { Untrusted } from "../../ui/Untrusted";
import type { Options } from "./kept";
import { describeFiles, labelRun, type Outcome, summarize } from "./outcome";
import { useFindings, type Draft } from "./queries";
import { toWords, withoutLine } from "../../ui/messages";
import { cut } from "./Rows";
import { count } from "../../ui/values";

type Details = Schemas["ImportDetails"];

interface CheckResultProps {
  draft: Draft;
  outcome: Outcome;
  options: Options;
  hasRead: boolean;
  onRead: (hasRead: boolean) => void;
  onOptions: (options: Options) => void;
}

/** What the check found: errors first, each with its lines, then warnings with the box that says they were read. */
export function CheckResult({ draft, outcome, options, hasRead, onRead, onOptions }: CheckResultProps) {
  const files = [draft.rows, ...draft.images].filter((each) => each !== null);
  const answer = useRef<HTMLParagraphElement>(null);
  // The button that had the focus is gone when the check has ended.
  useEffect(() => {
    if (document.activeElement === document.body) answer.current?.focus();
  }, []);
  return (
    <div className="stack">
      <p className="answer" ref={answer} tabIndex={-1}>
        {summarize(outcome)} Nothing was written to the case.
      </p>
      {describeFiles(draft.rows, draft.images).map((each) => (
        <p key={each}>{each}</p>
      ))}
      <Advice rows={draft.rows} images={draft.images} options={options} onOptions={onOptions} />
      <Findings title="Would be rejected" severity="error" files={files} />
      <Changes rows={draft.rows} />
      <Findings title="Warnings" severity="warning" files={files} />
      {outcome.warnings > 0 && labelRun(outcome) !== null && (
        <label className="choice">
          <input type="checkbox" checked={hasRead} onChange={(event) => onRead(event.target.checked)} />
          <span>
            {outcome.warnings === 1
              ? "I have read the warning; the row can be imported as it is."
              : `I have read the ${count(outcome.warnings, "warning")}; the rows can be imported as they are.`}
          </span>
        </label>
      )}
    </div>
  );
}

function Findings(props: { title: string; severity: Schemas["Severity"]; files: Details[] }) {
  const found = props.files.map((file) => ({
    file,
    codes: (file.check?.findings ?? []).filter((each) => each.severity === props.severity),
  }));
  if (found.every(({ codes }) => codes.length === 0)) return null;
  return (
    <section>
      <h3>{props.title}</h3>
      {found.map(({ file, codes }) =>
        codes.map((each) => <Code key={`${file.id} ${each.code}`} file={file} found={each} />),
      )}
    </section>
  );
}

/** All findings of one code: its number opens the lines. */
function Code({ file, found }: { file: Details; found: Schemas["CheckedCode"] }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="group" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span className={found.severity === "error" ? "bad" : "mark"}>{found.count.toLocaleString("en-US")}</span>{" "}
        <strong>{nameReason(found.code)}</strong>{" "}
        <span className="quiet">in {file.fileName.slice(file.fileName.lastIndexOf("/") + 1)}</span>
        {found.firstLine > 0 && (
          <span className="quiet">, first in line {found.firstLine.toLocaleString("en-US")}</span>
        )}
        <span className="quiet"> · {found.code}</span>
      </summary>
      {isOpen && <Lines importId={file.id} found={found} />}
    </details>
  );
}

function Lines({ importId, found }: { importId: number; found: Schemas["CheckedCode"] }) {
  const findings = useFindings(importId, found.code, true);
  if (findings.isError) return <Failure error={findings.error} again={() => void findings.refetch()} />;
  if (!findings.data) return <Skeleton rows={2} />;
  const { items, next } = findings.data;
  return (
    <>
      <ul className="plain">
        {items.length === 0 && (
          <li>
            <Untrusted text={toWords(found.message)} />
          </li>
        )}
        {items.map((each, index) => (
          <li key={index}>
            {each.line > 0 ? `Line ${each.line.toLocaleString("en-US")}: ` : ""}
            {each.column && (
              <>
                <Untrusted text={cut(each.column)} />:{" "}
              </>
            )}
            <Untrusted text={toWords(withoutLine(each.message, each.line))} />
          </li>
        ))}
      </ul>
      {next && (
        <p>
          These are the first {items.length}.{" "}
          <Link href={`/imports/${importId}`}>All of them, with files to download</Link>
        </p>
      )}
    </>
  );
}

/** Settings with which most of the missing files are found, beside what says that they are missing. */
function Advice(props: {
  rows: Details | null;
  images: Details[];
  options: Options;
  onOptions: (options: Options) => void;
}) {
  const paths = [props.rows, ...props.images].flatMap((each) => each?.files?.paths ?? []);
  const advised = paths.find((each) => each.advice !== null);
  if (!advised?.advice) return null;
  const { stripPrefix, addPrefix, files } = advised.advice;
  const apply = () => props.onOptions({ ...props.options, stripPrefix, addPrefix });
  return (
    <div className="notice warn">
      <p>
        {count(files, "missing file")} {files === 1 ? "is" : "are"} in the volume at another path
        {advised.firstMissing && (
          <>
            , such as <Untrusted text={cut(advised.firstMissing)} />
          </>
        )}
        .
      </p>
      <button type="button" onClick={apply}>
        Read the paths
        {stripPrefix !== null && (
          <>
            {" "}
            without <Untrusted text={stripPrefix} />
          </>
        )}
        {addPrefix !== null && (
          <>
            {" "}
            in <Untrusted text={addPrefix} />
          </>
        )}
      </button>
    </div>
  );
}

/** For an overlay: which columns change how many documents, with examples. */
function Changes({ rows }: { rows: Details | null }) {
  const check = rows?.check;
  if (!check || check.changedColumns.length === 0) return null;
  return (
    <details className="group">
      <summary>
        {count(check.wouldUpdate, "document")} would change in {count(check.changedColumns.length, "column")}
      </summary>
      <ul className="plain">
        {check.changedColumns.map((each) => (
          <li key={each.column}>
            <Untrusted text={each.column} />: {count(each.rows, "row")}
          </li>
        ))}
      </ul>
      <ul className="plain">
        {check.examples.slice(0, 20).map((each, index) => (
          <li key={index}>
            <Untrusted text={each.controlNumber} />, <Untrusted text={each.column} />: <Untrusted text={each.old} /> →{" "}
            <Untrusted text={each.new} />
          </li>
        ))}
      </ul>
    </details>
  );
}
