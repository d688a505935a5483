import { useState } from "react";
import { Link } from "wouter";
import { Failure } from "../../../ui/Failure";
import { More } from "../../../ui/More";
import { Skeleton } from "../../../ui/Skeleton";
import { Untrusted } from "../../../ui/Untrusted";
import { Time } from "../../../ui/values";
import type { Exhibit } from "./fields";
import { listLines, type Line } from "./lines";
import { useHistory } from "./queries";
import { Section } from "./Section";
import { Changed } from "./Text";
import { nameWriter, type Entry } from "./writers";

const FIRST_LINES = 10;

/** Every change of a document: who, when, and what from and to. */
export function History({ exhibit }: { exhibit: Exhibit }) {
  return (
    <Section name="History" note={`version ${exhibit.version}`}>
      <Entries exhibit={exhibit} />
    </Section>
  );
}

function Entries({ exhibit }: { exhibit: Exhibit }) {
  const history = useHistory(exhibit.id, exhibit.version);
  if (history.isPending) return <Skeleton rows={3} />;
  if (history.isError && !history.data) return <Failure error={history.error} again={() => void history.refetch()} />;
  const entries = history.data.pages.flatMap((page) => page.items);
  return (
    <>
      <ol className="plain history">
        {entries.map((entry) => (
          <li key={entry.version}>
            <Head entry={entry} />
            <Lines entry={entry} />
          </li>
        ))}
      </ol>
      {history.isError && <Failure error={history.error} again={() => void history.fetchNextPage()} />}
      <More pages={history} what="changes" />
    </>
  );
}

function Head({ entry }: { entry: Entry }) {
  const writer = nameWriter(entry);
  return (
    <p>
      <strong>
        <Action entry={entry} />
      </strong>{" "}
      {writer === null ? "by a user who is not known" : "by "}
      {writer !== null && <Untrusted text={writer} />}, <Time value={entry.changedAt} />{" "}
      <span className="quiet">version {entry.version}</span>
    </p>
  );
}

function Action({ entry: { action, importId, line, taggingJobId } }: { entry: Entry }) {
  const job = taggingJobId === null ? "" : ` by tagging job ${taggingJobId}`;
  const source = importId !== null && <Link href={`/imports/${importId}`}>import {importId}</Link>;
  const from = line !== null && `, line ${line.toLocaleString()}`;
  switch (action) {
    case "imported":
      return (
        <>
          Added by {source}
          {from},
        </>
      );
    case "overlaid":
      return (
        <>
          Changed by {source}
          {from},
        </>
      );
    case "undone":
      return <>Restored by the undo of {source},</>;
    case "custodians_added":
      return "Custodians added";
    case "tagged":
      return `Tagged${job}`;
    case "untagged":
      return `Tags removed${job}`;
    default:
      return "Edited";
  }
}

function Lines({ entry }: { entry: Entry }) {
  const [isOpen, setOpen] = useState(false);
  const lines = listLines(entry);
  const shown = isOpen ? lines : lines.slice(0, FIRST_LINES);
  if (entry.action === "imported") return null;
  if (lines.length === 0) return <p className="quiet">It had these values already.</p>;
  return (
    <>
      <ul className="plain">
        {shown.map((line) => (
          <li key={`${line.kind} ${line.name}`}>
            <Value line={line} />
          </li>
        ))}
      </ul>
      {lines.length > shown.length && (
        <button type="button" className="small" onClick={() => setOpen(true)}>
          Show all {lines.length.toLocaleString()} values
        </button>
      )}
    </>
  );
}

function Value({ line: { kind, name, old, now } }: { line: Line }) {
  if (kind === "inside") return <span className="quiet">{name}: replaced</span>;
  const label = <span className="quiet">{kind === "property" ? <Untrusted text={name} /> : name}:</span>;
  return (
    <>
      {label} <Changed old={old} now={now} />
    </>
  );
}
