import { useState } from "react";
import { Link } from "wouter";
import type { Schemas } from "../../api/client";
import { useCanImport } from "../../api/me";
import { Failure } from "../../ui/Failure";
import { adviseOn, nameReason } from "../../ui/codes";
import { toWords, withoutLine } from "../../ui/messages";
import { More } from "../../ui/More";
import { Rows, showLine } from "../../ui/Rows";
import { Untrusted } from "../../ui/Untrusted";
import { Count } from "../../ui/values";
import { useCodes, useRejections, useWarnings } from "./queries";

type CodeCount = Schemas["CodeCount"];

// Beyond this a file is easier to correct than rows on a page.
const MANY = 1_000;

/** Rejections and warnings by code; the rows of a group are loaded when it is opened. */
export function Groups({ state }: { state: Schemas["ImportState"] }) {
  const codes = useCodes(state.id, state);
  const canImport = useCanImport();
  if (codes.isError) return <Failure error={codes.error} again={() => void codes.refetch()} />;
  if (!codes.data) return null;
  const canFix = canImport && state.openRejections > 0;
  return (
    <>
      <Section id="rejected" title="Rejected rows" groups={codes.data.rejections}>
        {(group) => (
          <GroupLine key={keyOf(group)} group={group} fix={canFix ? state.id : null}>
            {() => <Rejections importId={state.id} group={group} />}
          </GroupLine>
        )}
      </Section>
      <Section id="warnings" title="Warnings" groups={codes.data.warnings}>
        {(group) => (
          <GroupLine key={keyOf(group)} group={group} fix={null}>
            {() => <Warnings importId={state.id} group={group} />}
          </GroupLine>
        )}
      </Section>
    </>
  );
}

const keyOf = (group: CodeCount) => `${group.code} ${group.column}`;

interface SectionProps {
  id: string;
  title: string;
  groups: CodeCount[];
  children: (group: CodeCount) => React.ReactNode;
}

function Section({ id, title, groups, children }: SectionProps) {
  if (groups.length === 0) return null;
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {groups.map(children)}
    </section>
  );
}

function GroupLine(props: { group: CodeCount; fix: number | null; children: () => React.ReactNode }) {
  const { group, fix } = props;
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="group-line">
      <details className="group" onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <strong>{nameReason(group.code)}</strong> <Count value={group.count} />
          {group.column !== null && (
            <>
              {" "}
              in <Untrusted text={group.column} />
            </>
          )}
          <span className="quiet">
            {group.firstLine === 0 ? " · the whole file" : ` · first in line ${group.firstLine.toLocaleString()}`}
            {` · ${group.code}`}
          </span>
        </summary>
        {adviseOn(group.code) && <p>{adviseOn(group.code)}</p>}
        {fix !== null && group.count > MANY && (
          <p className="quiet">
            These are many rows: it is quicker to correct them in the file of rejected rows, and to import that file.
          </p>
        )}
        {isOpen && props.children()}
      </details>
      {fix !== null && (
        <Link href={`/imports/${fix}/fix?code=${encodeURIComponent(group.code)}`}>
          Fix<span className="unseen"> the rows with {nameReason(group.code)}</span>
        </Link>
      )}
    </div>
  );
}

function Rejections({ importId, group }: { importId: number; group: CodeCount }) {
  const rejections = useRejections(importId, group.code, group.column);
  const shown = rejections.data?.pages.flatMap((page) => page.items) ?? [];
  if (rejections.isError) return <Failure error={rejections.error} again={() => void rejections.refetch()} />;
  return (
    <>
      <Rows
        rows={shown}
        columns={[
          ["Line", (row) => showLine(row.line)],
          ["Document", (row) => row.controlNumber],
          ["Reason", (row) => toWords(withoutLine(row.message, row.line))],
        ]}
      />
      <More pages={rejections} what="rows" />
    </>
  );
}

function Warnings({ importId, group }: { importId: number; group: CodeCount }) {
  const warnings = useWarnings(importId, group.code, group.column);
  const shown = warnings.data?.pages.flatMap((page) => page.items) ?? [];
  if (warnings.isError) return <Failure error={warnings.error} again={() => void warnings.refetch()} />;
  return (
    <>
      <Rows
        rows={shown}
        columns={[
          ["Line", (row) => showLine(row.line)],
          ["Document", (row) => row.controlNumber],
          ["In the file", (row) => row.originalText],
          ["Stored", (row) => row.storedText],
          ["What and why", (row) => toWords(withoutLine(row.message, row.line))],
        ]}
      />
      <More pages={warnings} what="rows" />
    </>
  );
}
