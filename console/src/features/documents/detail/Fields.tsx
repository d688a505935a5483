import type { ReactNode } from "react";
import { Link } from "wouter";
import { Untrusted } from "../../../ui/Untrusted";
import type { ListName } from "./draft";
import { FIELDS, placeOf, readText, toSnake, type Exhibit } from "./fields";
import { FoldedText } from "./Text";

const SOURCES: Record<string, string> = {
  date_sent: "sent",
  date_received: "received",
  date_created: "created",
  date_modified: "modified",
};
const STATED: Record<string, string> = {
  begin: "by the first number of the family",
  range: "by the numbers of the family",
  group: "by the family’s identifier",
  members: "by the parent’s list of attachments",
};

/** The fields of a document that have a value, its names, and where it came from. */
export function Fields({ exhibit }: { exhibit: Exhibit }) {
  const stated = FIELDS.filter(({ name }) => readText(exhibit, placeOf(name)) !== "");
  return (
    <dl className="values">
      {stated.map(({ name, label, kind }) => (
        <Pair key={name} name={label} isMono={kind === "number"}>
          <FoldedText text={readText(exhibit, placeOf(name))} />
          <Note exhibit={exhibit} name={name} />
        </Pair>
      ))}
      <Pair name="Custodians">
        <NameList exhibit={exhibit} list="custodians" filter="custodian" />
      </Pair>
      <Pair name="Tags">
        <NameList exhibit={exhibit} list="tags" filter="tag" />
      </Pair>
      <Pair name="From">
        <Link href={`/imports/${exhibit.importId}`}>import {exhibit.importId}</Link>, line{" "}
        {exhibit.line.toLocaleString()}
      </Pair>
    </dl>
  );
}

/** How a value that is not in a column of its own was found, and how precise a date is. */
function Note({ exhibit, name }: { exhibit: Exhibit; name: string }) {
  const source = name === "documentDate" ? SOURCES[exhibit.documentDateSource ?? ""] : undefined;
  const stated = name === "parentControlNumber" ? STATED[exhibit.parentStatedBy ?? ""] : undefined;
  const isLocal = exhibit.datePrecision[toSnake(name)] === "time";
  if (!source && !stated && !isLocal) return null;
  return (
    <span className="quiet">
      {source && ` as ${source}`}
      {stated && ` stated ${stated}`}
      {isLocal && " as written, no zone"}
    </span>
  );
}

export function Pair({ name, isMono, children }: { name: ReactNode; isMono?: boolean; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd className={isMono ? "mono" : undefined}>{children}</dd>
    </div>
  );
}

interface NameListProps {
  exhibit: Exhibit;
  list: ListName;
  filter: "custodian" | "tag";
}

/** The names, each with the way to the documents that have it, beside which this one stays open. */
function NameList({ exhibit, list, filter }: NameListProps) {
  const values = exhibit[list];
  if (values.length === 0) return <span className="quiet">–</span>;
  const href = (value: string) =>
    `/cases/${exhibit.caseId}/documents?${new URLSearchParams({ [filter]: value, open: String(exhibit.id) })}`;
  return (
    <ul className="plain">
      {values.map((value) => (
        <li key={value}>
          <Link href={href(value)}>
            <Untrusted text={value} />
          </Link>
        </li>
      ))}
    </ul>
  );
}
