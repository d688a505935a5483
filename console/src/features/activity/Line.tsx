import { Link } from "wouter";
import { useCanImport } from "../../api/me";
import { Untrusted } from "../../ui/Untrusted";
import { writeFilters, type Filters } from "./filters";
import { describeSummary, findPage, nameObject, splitAction, type Activity } from "./words";

interface LineProps {
  activity: Activity;
  /** The case of the page; of a tenant, each line names its own. */
  caseId: number | undefined;
  filters: Filters;
  path: string;
}

/** One activity: when, who, what, with the page of its object. */
export function Line({ activity, caseId, filters, path }: LineProps) {
  const summary = describeSummary(activity.summary);
  const object = `${activity.objectType}:${activity.objectId}`;
  const at = new Date(activity.at);
  return (
    <li>
      <time dateTime={activity.at} title={`${at.toISOString().replace("T", " ").slice(0, 19)} UTC`}>
        {at.toLocaleTimeString(undefined, { timeStyle: "short" })}
      </time>
      <span className="what">
        <Who activity={activity} filters={filters} path={path} /> <What activity={activity} />
        {summary !== "" && <span className="quiet"> · {summary}</span>}
        {caseId === undefined && activity.caseId !== null && activity.objectType !== "case" && (
          <span>
            {" "}
            ·{" "}
            <Link href={`/cases/${activity.caseId}/activity`}>
              <Untrusted text={activity.case ?? `case ${activity.caseId}`} />
            </Link>
          </span>
        )}
      </span>
      {filters.object !== object && (
        <Link className="only" href={`${path}${writeFilters({ ...filters, object })}`}>
          Only this<span className="unseen"> {nameObject(activity)}</span>
        </Link>
      )}
    </li>
  );
}

function Who({ activity, filters, path }: Omit<LineProps, "caseId">) {
  if (activity.userId === null) return <span className="quiet">The application</span>;
  return (
    <Link href={`${path}${writeFilters({ ...filters, user: activity.userId })}`}>
      <Untrusted text={activity.userName ?? activity.userId} />
    </Link>
  );
}

function What({ activity }: { activity: Activity }) {
  const words = splitAction(activity.action);
  if (!words)
    return (
      <>
        <span className="mono">{activity.action}</span> <ObjectOf activity={activity} />
      </>
    );
  return (
    <>
      {words[0]}
      <ObjectOf activity={activity} />
      {words[1]}
    </>
  );
}

function ObjectOf({ activity }: { activity: Activity }) {
  const page = findPage(activity, useCanImport() ?? false);
  const name =
    activity.objectType === "case" && activity.case !== null ? (
      <>
        case <Untrusted text={activity.case} />
      </>
    ) : (
      nameObject(activity)
    );
  return page === null ? <span>{name}</span> : <Link href={page}>{name}</Link>;
}
