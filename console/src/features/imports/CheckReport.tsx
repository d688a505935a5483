import { useState } from "react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../api/client";
import { Failure } from "../../ui/Failure";
import { adviseOn, nameReason } from "../../ui/codes";
import { withoutLine } from "../../ui/messages";
import { More } from "../../ui/More";
import { Rows, showLine } from "../../ui/Rows";
import { Skeleton } from "../../ui/Skeleton";
import { Untrusted } from "../../ui/Untrusted";
import { Count, Time } from "../../ui/values";
import { sortFindings, summarizeCheck } from "./check";

type Check = Schemas["CheckResult"];

/** What a check found: what an import would do, then errors, then warnings. */
export function CheckReport({ importId, check, isRun }: { importId: number; check: Check; isRun: boolean }) {
  const body = (
    <>
      <ul className="sentences">
        {summarizeCheck(check).map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      {check.examples.length > 0 && <Examples check={check} />}
      {sortFindings(check.findings).map((found) => (
        <Found key={`${found.severity} ${found.code}`} importId={importId} found={found} />
      ))}
      <p className="quiet">
        Checked <Time value={check.finishedAt} />
      </p>
    </>
  );
  if (isRun)
    return (
      <details className="group" id="check">
        <summary>The check before the import</summary>
        {body}
      </details>
    );
  return (
    <section aria-labelledby="check">
      <h2 id="check">What an import would do</h2>
      {body}
    </section>
  );
}

function Found({ importId, found }: { importId: number; found: Schemas["CheckedCode"] }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="group" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span className={`status ${found.severity === "error" ? "bad" : "warn"}`}>{found.severity}</span>{" "}
        <strong>{nameReason(found.code)}</strong> <Count value={found.count} />
        <span className="quiet">
          {found.firstLine === 0 ? " · the whole file" : ` · first in line ${found.firstLine.toLocaleString()}`}
          {` · ${found.code}`}
        </span>
      </summary>
      {adviseOn(found.code) && <p>{adviseOn(found.code)}</p>}
      {isOpen && <Lines importId={importId} found={found} />}
    </details>
  );
}

function Lines({ importId, found }: { importId: number; found: Schemas["CheckedCode"] }) {
  const { code } = found;
  const findings = useInfiniteQuery({
    queryKey: ["findings", importId, code],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam, signal }) => {
      const query = { code, limit: 100, after: pageParam };
      return data(await api.GET("/imports/{importId}/findings", { params: { path: { importId }, query }, signal }));
    },
    getNextPageParam: (page) => page.next ?? undefined,
  });
  const shown = findings.data?.pages.flatMap((page) => page.items) ?? [];
  if (findings.isError) return <Failure error={findings.error} again={() => void findings.refetch()} />;
  if (!findings.data) return <Skeleton rows={2} />;
  if (shown.length === 0)
    return (
      <p>
        <Untrusted text={found.message} />
      </p>
    );
  return (
    <>
      <Rows
        rows={shown}
        columns={[
          ["Line", (row) => showLine(row.line)],
          ["Document", (row) => row.controlNumber],
          ["Column", (row) => row.column],
          ["What was found", (row) => withoutLine(row.message, row.line)],
        ]}
      />
      <More pages={findings} what="lines" />
    </>
  );
}

/** Of an overlay: the first values that it would replace. */
function Examples({ check }: { check: Check }) {
  return (
    <details className="group">
      <summary>Values that would change in {check.changedColumns.length.toLocaleString()} columns</summary>
      <ul className="sentences">
        {check.changedColumns.map((each) => (
          <li key={each.column}>
            <Untrusted text={each.column} />: <Count value={each.rows} /> rows
          </li>
        ))}
      </ul>
      <Rows
        rows={check.examples}
        columns={[
          ["Document", (row) => row.controlNumber],
          ["Column", (row) => row.column],
          ["Now", (row) => row.old],
          ["After the import", (row) => row.new],
        ]}
      />
    </details>
  );
}
