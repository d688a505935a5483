import { useEffect, useRef, useState } from "react";
import { Link } from "wouter";
import { useMe } from "../../api/me";
import { Failure } from "../../ui/Failure";
import { announce } from "../../ui/LiveRegion";
import { useTitle } from "../../ui/title";
import { Skeleton } from "../../ui/Skeleton";
import { Events } from "./Events";
import { Limits } from "./Limits";
import { useOperations, type Operations } from "./queries";
import { summarize } from "./words";
import { Works } from "./Works";
import "./operations.css";

/** What runs, waits and failed in all cases of the tenant, for its administrators. */
export default function OperationsPage() {
  useTitle("Operations");
  const me = useMe();
  const isAllowed = me.data?.role === "admin" && me.data.cases === null;
  const operations = useOperations(isAllowed);
  const failed = me.error ?? operations.error;
  return (
    <section className="page operations">
      <h1>Operations</h1>
      {me.data && !isAllowed && <NotAllowed role={me.data.role} />}
      {failed && <Failure error={failed} again={() => void (me.error ? me : operations).refetch()} />}
      {!failed && (me.isPending || (isAllowed && operations.isPending)) && <Skeleton rows={6} />}
      {operations.data && <Lists found={operations.data} readAt={operations.dataUpdatedAt} />}
      {me.data && isAllowed && <Limits me={me.data} />}
    </section>
  );
}

function NotAllowed({ role }: { role: string }) {
  return (
    <p>
      {role === "admin"
        ? "This page covers all cases of your tenant, and your account is limited to some of them. "
        : `This page is for administrators of your tenant: it covers all of its cases. You have the role ${role}. `}
      Each of <Link href="/">your cases</Link> has its own lists of imports and productions.
    </p>
  );
}

function Lists({ found, readAt }: { found: Operations; readAt: number }) {
  const [message, setMessage] = useState<Done | null>(null);
  const parts = summarize(found);
  const summary = parts.map((each) => each.words).join(", ") || "Nothing runs, nothing waits, nothing failed.";
  useAnnounced(summary);
  const shared = { now: readAt, onDone: (words: string) => setMessage({ words }) };
  const groups = (state: string) => found.groups.filter((each) => each.state === state);
  return (
    <>
      <p className="summary">
        {parts.length === 0 && summary}
        {parts.map((each) => (
          <a key={each.section} href={`#${each.section}`}>
            {each.words}
          </a>
        ))}
      </p>
      {message && <Message done={message} />}
      <Works
        title="Failed"
        section="failed"
        note={`What needs a decision stays here; other failures for ${found.failedDays} days.`}
        groups={groups("failed")}
        {...shared}
      />
      <Events events={found.events} {...shared} />
      <Works title="Waiting" section="waiting" groups={groups("waiting")} {...shared} />
      <Works title="Running" section="running" groups={groups("running")} {...shared} />
    </>
  );
}

/** What a retry has done: each is an object of its own, also if another one had the same words. */
interface Done {
  words: string;
}

/** The result of a retry. It gets the focus: the button that had it is gone. */
function Message({ done }: { done: Done }) {
  const note = useRef<HTMLParagraphElement>(null);
  useEffect(() => note.current?.focus(), [done]);
  return (
    <p className="notice" tabIndex={-1} ref={note}>
      {done.words}
    </p>
  );
}

/** Have the first line read aloud when it changes, and not when the page opens. */
function useAnnounced(summary: string) {
  const last = useRef(summary);
  useEffect(() => {
    if (last.current !== summary) announce(summary);
    last.current = summary;
  }, [summary]);
}
