import { Link } from "wouter";
import type { Schemas } from "../../api/client";
import { Untrusted } from "../../ui/Untrusted";
import { Retry } from "./Retry";
import { countShown, describeState, explainFailure, findPage, nameKind, nameWork } from "./words";

type Group = Schemas["WorkGroup"];
type Work = Schemas["Work"];

interface WorksProps {
  title: string;
  section: string;
  note?: string;
  groups: Group[];
  now: number;
  onDone: (message: string) => void;
}

/** What is in one state, by kind. */
export function Works({ title, section, note, groups, now, onDone }: WorksProps) {
  if (groups.length === 0) return null;
  return (
    <section aria-labelledby={section}>
      <h2 id={section}>{title}</h2>
      {note && <p className="quiet">{note}</p>}
      {groups.map((each) => (
        <Kind key={each.kind} group={each} now={now} onDone={onDone} />
      ))}
    </section>
  );
}

function Kind({ group, now, onDone }: { group: Group; now: number; onDone: (message: string) => void }) {
  return (
    <>
      <h3>
        {nameKind(group.kind)} <span className="quiet">{countShown(group.total, group.totalIsLowerBound)}</span>
      </h3>
      {group.totalIsLowerBound && (
        <p className="quiet">The newest {group.items.length} are shown; the pages of their cases list all of them.</p>
      )}
      <ul className="works">
        {group.items.map((each) => (
          <Row key={`${each.id} ${each.status}`} group={group} work={each} now={now} onDone={onDone} />
        ))}
      </ul>
    </>
  );
}

interface RowProps {
  group: Group;
  work: Work;
  now: number;
  onDone: (message: string) => void;
}

function Row({ group, work, now, onDone }: RowProps) {
  const { kind, state } = group;
  const name = nameWork(kind, work.id);
  const why = state === "failed" ? explainFailure(kind, work) : null;
  return (
    <li>
      <div className="what">
        <Link href={findPage(kind, work)}>{name}</Link>
        {work.name !== null && (
          <>
            {" "}
            · <Untrusted text={work.name} />
          </>
        )}{" "}
        ·{" "}
        <Link href={`/cases/${work.caseId}/imports`}>
          <Untrusted text={work.case} />
        </Link>
        {why && (
          <p>
            <Untrusted text={why} />
          </p>
        )}
      </div>
      <span className={`status ${state === "failed" ? "bad" : state === "running" ? "busy" : "idle"}`}>
        {describeState(group, work, now)}
      </span>
      {work.canBeRetried && (kind === "import" || kind === "production") && (
        <Retry what={kind} id={work.id} label="Retry" of={name} onDone={onDone} />
      )}
    </li>
  );
}
