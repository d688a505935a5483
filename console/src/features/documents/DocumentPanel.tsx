import { useEffect, useRef, type KeyboardEvent, type ReactNode } from "react";
import { Link } from "wouter";
import type { Schemas } from "../../api/client";
import { Failure } from "../../ui/Failure";
import { Skeleton } from "../../ui/Skeleton";
import { Untrusted } from "../../ui/Untrusted";
import { Count } from "../../ui/values";
import { useDocument } from "./queries";

type Exhibit = Schemas["Exhibit"];

const FIELDS: [keyof Exhibit, string][] = [
  ["title", "Title"],
  ["fileName", "File name"],
  ["batesBegin", "Bates, first"],
  ["batesEnd", "Bates, last"],
  ["parentControlNumber", "Attachment of"],
  ["documentDate", "Date"],
  ["dateSent", "Sent"],
  ["dateReceived", "Received"],
  ["dateCreated", "Created"],
  ["dateModified", "Modified"],
  ["confidentiality", "Confidentiality"],
  ["nativePath", "Native"],
  ["textPath", "Text"],
];

/** One document: what the case has of it. Escape closes it, as its button does. */
export function DocumentPanel({ exhibitId, onClose }: { exhibitId: number; onClose: () => void }) {
  const found = useDocument(exhibitId);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const closeByKey = (event: KeyboardEvent) => {
    if (event.key === "Escape") onClose();
  };
  return (
    <aside className="panel" aria-labelledby="document" onKeyDown={closeByKey}>
      <div className="bar">
        <h2 id="document" ref={heading} tabIndex={-1} className="mono">
          {found.data ? <Untrusted text={found.data.controlNumber} /> : "Document"}
        </h2>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
      {found.isPending && <Skeleton rows={6} />}
      {found.isError && <Failure error={found.error} again={() => void found.refetch()} />}
      {found.data && <Fields exhibit={found.data} />}
    </aside>
  );
}

function Fields({ exhibit }: { exhibit: Exhibit }) {
  const stated = FIELDS.filter(([name]) => exhibit[name] !== null);
  return (
    <>
      <dl className="values">
        {stated.map(([name, label]) => (
          <Pair key={name} name={label}>
            <Untrusted text={String(exhibit[name]).replace("T00:00:00", "")} />
          </Pair>
        ))}
        <Pair name="Custodians">
          <List values={exhibit.custodians} />
        </Pair>
        <Pair name="Tags">
          <List values={exhibit.tags} />
        </Pair>
        <Pair name="Pages">
          <Count value={exhibit.pageCount} />
        </Pair>
        <Pair name="Production numbers">
          <List values={exhibit.productionNumbers.map((each) => `${each.batesBegin} – ${each.batesEnd}`)} />
        </Pair>
        <Pair name="From">
          <Link href={`/imports/${exhibit.importId}`}>import {exhibit.importId}</Link>, line{" "}
          {exhibit.line.toLocaleString()}
        </Pair>
        <Pair name="Version">{exhibit.version}</Pair>
      </dl>
      <Properties properties={exhibit.properties} />
    </>
  );
}

/** The columns of the load file that feed no field. */
function Properties({ properties }: { properties: Exhibit["properties"] }) {
  const pairs = Object.entries(properties);
  if (pairs.length === 0) return null;
  return (
    <>
      <h3>Other columns</h3>
      <dl className="values">
        {pairs.map(([name, value]) => (
          <div key={name}>
            <dt>
              <Untrusted text={name} />
            </dt>
            <dd>
              <Untrusted text={value} />
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function Pair({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function List({ values }: { values: string[] }) {
  if (values.length === 0) return <span className="quiet">–</span>;
  return (
    <ul className="plain">
      {values.map((value) => (
        <li key={value}>
          <Untrusted text={value} />
        </li>
      ))}
    </ul>
  );
}
