import type { Schemas } from "../../api/client";
import { count, formatBytes } from "../../ui/values";

/** What requests may have at most, and what is the operator's and not on this page. */
export function Limits({ me }: { me: Schemas["Me"] }) {
  const { maxFileBytes, singlePutBytes, maxBatch, maxPage } = me.limits;
  return (
    <section aria-label="Limits">
      <h2>Limits</h2>
      <dl className="pairs">
        <dt>A load file</dt>
        <dd>
          {formatBytes(maxFileBytes)}; from {formatBytes(singlePutBytes)} on it is sent in parts, which the console does
        </dd>
        <dt>One request</dt>
        <dd>
          creates at most {count(maxBatch, "object")}; a page of a list has at most {count(maxPage, "item")}
        </dd>
        <dt>Requests a second</dt>
        <dd>
          are limited for all tenants of the stack together. A request above the limit gets 429; the console and the
          command repeat it
        </dd>
        <dt>Imports, productions</dt>
        <dd>as many as you like; those beyond the size of the stack wait for a turn and are listed above</dd>
      </dl>
      <p className="quiet">
        Queues, alarms, the log and the database belong to the operator of the stack, whose manual is
        docs/operations.md. This page has what belongs to your tenant.
      </p>
    </section>
  );
}
