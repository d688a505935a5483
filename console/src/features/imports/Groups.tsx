import { useState } from "react";
import type { Schemas } from "../../api/client";
import { Failure } from "../../ui/Failure";
import { Untrusted } from "../../ui/Untrusted";
import { Count } from "../../ui/values";
import { useCodes, useRejections } from "./queries";

type CodeCount = Schemas["CodeCount"];

/** Rejections and warnings by code; the rows of a group are loaded when it is opened. */
export function Groups({ state }: { state: Schemas["ImportState"] }) {
  const codes = useCodes(state.id, state);
  if (codes.isError) return <Failure error={codes.error} again={() => void codes.refetch()} />;
  if (!codes.data) return null;
  return (
    <>
      <Section title="Rejected rows" groups={codes.data.rejections}>
        {(group) => <Rejections importId={state.id} group={group} />}
      </Section>
      <Section title="Warnings" groups={codes.data.warnings} />
    </>
  );
}

function Section(props: { title: string; groups: CodeCount[]; children?: (group: CodeCount) => React.ReactNode }) {
  if (props.groups.length === 0) return null;
  return (
    <section>
      <h2>{props.title}</h2>
      {props.groups.map((group) => (
        <Group key={`${group.code} ${group.column}`} group={group} rows={props.children} />
      ))}
    </section>
  );
}

function Group({ group, rows }: { group: CodeCount; rows?: (group: CodeCount) => React.ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="group" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <strong>{group.code}</strong> <Count value={group.count} />
        {group.column !== null && (
          <>
            {" "}
            in <Untrusted text={group.column} />
          </>
        )}
        <span className="quiet"> · first in line {group.firstLine.toLocaleString()}</span>
      </summary>
      <p>
        <Untrusted text={group.message} />
      </p>
      {isOpen && rows?.(group)}
    </details>
  );
}

function Rejections({ importId, group }: { importId: number; group: CodeCount }) {
  const rejections = useRejections(importId, group.code, group.column);
  const shown = rejections.data?.pages.flatMap((page) => page.items) ?? [];
  if (rejections.isError) return <Failure error={rejections.error} again={() => void rejections.refetch()} />;
  return (
    <>
      <table className="list">
        <thead>
          <tr>
            <th scope="col" className="num">
              Line
            </th>
            <th scope="col">Document</th>
            <th scope="col">Reason</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr key={row.line}>
              <td className="num">{row.line.toLocaleString()}</td>
              <td>
                <Untrusted text={row.controlNumber} />
              </td>
              <td>
                <Untrusted text={row.message} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {rejections.hasNextPage && (
        <button type="button" disabled={rejections.isFetchingNextPage} onClick={() => void rejections.fetchNextPage()}>
          Show more rows
        </button>
      )}
    </>
  );
}
