import { Link } from "wouter";
import type { Schemas } from "../../api/client";
import { Untrusted } from "../../ui/Untrusted";
import { Retry } from "./Retry";
import { countShown, describeObject, explainMissed, explainRefusal, formatAge } from "./words";

type DeadLetter = Schemas["DeadLetter"];

interface EventsProps {
  events: Schemas["DeadLetters"];
  now: number;
  onDone: (message: string) => void;
}

/** Dead-lettered events, each with what waits for it. */
export function Events({ events, now, onDone }: EventsProps) {
  if (events.total === 0) return null;
  return (
    <section aria-labelledby="events">
      <div className="bar">
        <h2 id="events">
          Events that could not be published{" "}
          <span className="quiet">{countShown(events.total, events.totalIsLowerBound)}</span>
        </h2>
        {events.total > 1 && <Retry what="events" id={0} label="Retry all" onDone={onDone} />}
      </div>
      <p className="quiet">
        The data is stored, but these events about it were not published. A retry publishes them again, with their
        original ids. If an event comes back to this list, ask the operator of your stack: the log has the cause.
      </p>
      {events.totalIsLowerBound && (
        <p className="quiet">The newest {events.items.length} are shown. Retry all takes the 1,000 oldest at once.</p>
      )}
      <ul className="works">
        {events.items.map((each) => (
          <Row key={each.id} event={each} now={now} onDone={onDone} />
        ))}
      </ul>
    </section>
  );
}

function Row({ event, now, onDone }: { event: DeadLetter; now: number; onDone: (message: string) => void }) {
  const { words, page } = describeObject(event);
  return (
    <li>
      <div className="what">
        {page ? <Link href={page}>{words}</Link> : words}: {explainMissed(event)}
        <p>
          Event {event.id} <Untrusted text={`${event.eventType}, ${explainRefusal(event)}`} />
        </p>
      </div>
      <span className="status bad">
        {event.deadLetteredAt
          ? `given up ${formatAge(event.deadLetteredAt, now)} ago`
          : `happened ${formatAge(event.createdAt, now)} ago`}
      </span>
      <Retry what="event" id={event.id} label="Retry" of={`event ${event.id}`} onDone={onDone} />
    </li>
  );
}
