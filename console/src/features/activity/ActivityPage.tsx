import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import { useCase } from "../../api/cases";
import { useMe } from "../../api/me";
import { CaseNav } from "../../ui/CaseNav";
import { Failure } from "../../ui/Failure";
import { announce } from "../../ui/LiveRegion";
import { More } from "../../ui/More";
import { Skeleton } from "../../ui/Skeleton";
import { useTitle } from "../../ui/title";
import { Untrusted } from "../../ui/Untrusted";
import { groupByDay, nameDay } from "./days";
import { Active, FilterBar, type Person } from "./FilterBar";
import { hasFilters, readFilters, writeFilters, type Filters } from "./filters";
import { Line } from "./Line";
import { useActivities, useNewest, useUserNames } from "./queries";
import { nameAction, nameType, type Activity } from "./words";
import "./activity.css";

/** Who did what and when: of a case, or of everything that the user may see. Filters are in the address. */
export default function ActivityPage({ caseId }: { caseId?: number }) {
  const ofCase = useCase(caseId);
  useTitle("Activity", ofCase.data?.name);
  return (
    <section className="page activity">
      {caseId === undefined ? (
        <h1>Activity</h1>
      ) : (
        <>
          <p className="quiet crumbs">
            <Link href="/">Cases</Link>
          </p>
          <h1>{ofCase.data ? <Untrusted text={ofCase.data.name} /> : "Case"}</h1>
          <CaseNav caseId={caseId} name={ofCase.data?.name} current="activity" />
        </>
      )}
      {ofCase.isError ? (
        <Failure error={ofCase.error} again={() => void ofCase.refetch()} />
      ) : (
        <List caseId={caseId} path={caseId === undefined ? "/activity" : `/cases/${caseId}/activity`} />
      )}
    </section>
  );
}

function List({ caseId, path }: { caseId: number | undefined; path: string }) {
  const [address] = useSearchParams();
  const [, navigate] = useLocation();
  const filters = readFilters(address);
  const go = (changed: Filters) => navigate(`${path}${writeFilters(changed)}`);
  const pages = useActivities(caseId, filters);
  const shown = pages.data?.pages.flatMap((page) => page.items) ?? [];
  const persons = usePersons(shown, filters.user);
  const nameOf = (name: keyof Filters, value: string) => nameFilter(name, value, persons);
  return (
    <>
      <FilterBar key={address.toString()} filters={filters} persons={persons} onChange={go} />
      <Active filters={filters} nameOf={nameOf} onChange={go} />
      <New caseId={caseId} filters={filters} shown={shown} isRead={pages.isSuccess} />
      {pages.isPending && <Skeleton rows={8} />}
      {pages.isError && <Failure error={pages.error} again={() => void pages.refetch()} />}
      {pages.isSuccess && shown.length === 0 && <Nothing filters={filters} path={path} />}
      {groupByDay(shown).map(({ day, items }) => (
        <section key={day} className="day" aria-labelledby={`day-${day}`}>
          <h2 id={`day-${day}`}>{nameDay(day, new Date())}</h2>
          <ul>
            {items.map((each) => (
              <Line key={each.id} activity={each} caseId={caseId} filters={filters} path={path} />
            ))}
          </ul>
        </section>
      ))}
      <More pages={pages} what="activities" />
    </>
  );
}

function nameFilter(name: keyof Filters, value: string, persons: Person[]): string {
  if (name === "user") return persons.find((each) => each.id === value)?.name ?? value;
  if (name === "action") return nameAction(value);
  if (name === "object") return `${nameType(value.split(":")[0]!)} ${value.split(":")[1]}`;
  return value;
}

/** The persons that can be chosen: those of the list, the user, and the one that is chosen. */
function usePersons(shown: Activity[], chosen: string | undefined): Person[] {
  const me = useMe().data;
  const names = new Map(shown.flatMap((each) => (each.userId === null ? [] : [[each.userId, each.userName]])));
  if (me) names.set(me.userId, me.userName);
  const unknown = chosen !== undefined && !names.has(chosen) ? [chosen] : [];
  const found = useUserNames(unknown);
  for (const id of unknown) names.set(id, found.data?.get(id) ?? null);
  return [...names]
    .map(([id, name]) => ({ id: id!, name: name ?? id! }))
    .sort((one, other) => one.name.localeCompare(other.name));
}

interface NewProps {
  caseId: number | undefined;
  filters: Filters;
  shown: Activity[];
  isRead: boolean;
}

/** What was done since the list was read: announced, and shown when the user wants it. */
function New({ caseId, filters, shown, isRead }: NewProps) {
  const newest = useNewest(caseId, filters, isRead);
  const queries = useQueryClient();
  const known = new Set(shown.map((each) => each.id));
  const fresh = (newest.data ?? []).filter((id) => !known.has(id)).length;
  const isAnnounced = useRef(false);
  useEffect(() => {
    if (fresh > 0 && !isAnnounced.current) announce("There are new activities.");
    isAnnounced.current = fresh > 0;
  }, [fresh]);
  if (fresh === 0) return null;
  const isAll = fresh === newest.data!.length && shown.length > 0;
  return (
    <button
      type="button"
      className="fresh"
      onClick={() => {
        void queries.resetQueries({ queryKey: ["activities", caseId, filters] });
        // The button goes, and would take the focus with it.
        document.querySelector<HTMLElement>("main")?.focus({ preventScroll: true });
      }}
    >
      Show {isAll ? `${fresh} or more` : fresh} new {fresh === 1 ? "activity" : "activities"}
    </button>
  );
}

function Nothing({ filters, path }: { filters: Filters; path: string }) {
  if (!hasFilters(filters))
    return (
      <div className="empty">
        <h2>Nothing was done yet</h2>
        <p>Imports, edits, productions and custody are listed here, with who did what and when.</p>
      </div>
    );
  return (
    <div className="empty">
      <h2>No activity matches</h2>
      <p>
        Take a filter away above, or <Link href={path}>show all activities</Link>.
      </p>
    </div>
  );
}
