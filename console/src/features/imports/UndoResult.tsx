import { useState } from "react";
import { Link } from "wouter";
import type { Schemas } from "../../api/client";
import { Failure } from "../../ui/Failure";
import { Rows } from "../../ui/Rows";
import { Untrusted } from "../../ui/Untrusted";
import { count } from "../../ui/values";
import { describeUndo, REASONS } from "./undo";
import { useKept } from "./undoQueries";

type Undo = Schemas["Undo"];

/** What an undo did, or would do, with what stays and why. */
export function UndoResult({ undo, kind }: { undo: Undo; kind: Schemas["ImportState"]["kind"] }) {
  return (
    <>
      <ul className="sentences">
        {describeUndo(undo, kind).map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      {undo.reasons.length > 0 && <Kept undo={undo} />}
      <Others lead="Imported again, these would find what they counted as unchanged:" imports={undo.foundUnchangedBy} />
      <Others lead="These state values that stay:" imports={undo.statedBy} />
      <Others lead="These may have values that are removed, and did not record them:" imports={undo.unrecordedBy} />
    </>
  );
}

function Kept({ undo }: { undo: Undo }) {
  const [isOpen, setOpen] = useState(false);
  const kept = useKept(undo.importId, undo.undoNo, isOpen);
  return (
    <>
      <p>Why they stay:</p>
      <ul className="sentences">
        {undo.reasons.map((each) => (
          <li key={each.code}>
            {count(each.documents, "document")}: {REASONS[each.code]} <span className="quiet">({each.code})</span>
          </li>
        ))}
      </ul>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Which documents stay</summary>
        {kept.isError && <Failure error={kept.error} again={() => void kept.refetch()} />}
        {kept.data && <KeptTable items={kept.data.items} isAll={kept.data.next === null} />}
      </details>
    </>
  );
}

function KeptTable({ items, isAll }: { items: Schemas["KeptItem"][]; isAll: boolean }) {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Documents that stay">
      <Rows
        rows={items}
        columns={[
          ["Document", (row) => row.controlNumber],
          ["What stays", (row) => (row.name === null ? <>the document</> : row.name)],
          ["Because of", (row) => <Cause item={row} />],
        ]}
      />
      {!isAll && <p className="quiet">These are the first 100; the report of the undo has all.</p>}
    </div>
  );
}

function Cause({ item }: { item: Schemas["KeptItem"] }) {
  if (item.byImport !== null) return <Link href={`/imports/${item.byImport}`}>import {item.byImport}</Link>;
  if (item.byUser !== null) return <Untrusted text={item.byUserName ?? item.byUser} />;
  if (item.byProduction !== null) return <>production {item.byProduction}</>;
  if (item.byDocument !== null) return <Untrusted text={item.byDocument} />;
  return <>{REASONS[item.code]}</>;
}

function Others({ lead, imports }: { lead: string; imports: { importId: number; documents: number }[] }) {
  if (imports.length === 0) return null;
  return (
    <p>
      {lead}{" "}
      {imports.map((each, index) => (
        <span key={each.importId}>
          {index > 0 && ", "}
          <Link href={`/imports/${each.importId}`}>import {each.importId}</Link> ({count(each.documents, "document")})
        </span>
      ))}
    </p>
  );
}
