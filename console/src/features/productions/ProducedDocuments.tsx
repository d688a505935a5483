import { useState } from "react";
import { Link } from "wouter";
import type { Schemas } from "../../api/client";
import { Failure } from "../../ui/Failure";
import { Skeleton } from "../../ui/Skeleton";
import { Untrusted } from "../../ui/Untrusted";
import { Count } from "../../ui/values";
import { PAGE, useProducedDocuments, type Place } from "./queries";

const VOID = "void";

/** The documents with their numbers, a page at a time: a production has up to 100,000. */
export function ProducedDocuments({ production }: { production: Schemas["Production"] }) {
  const [{ place, before }, setAt] = useState<{ place: Place; before: number }>({ place: {}, before: 0 });
  const query = useProducedDocuments(production.id, place, `${production.status} ${production.documents}`);
  if (query.isError) return <Failure error={query.error} again={() => void query.refetch()} />;
  if (!query.data) return <Skeleton rows={6} />;
  const { items, next, prev } = query.data;
  if (production.documents === null)
    return <p className="quiet">Its documents are listed here when their numbers are reserved.</p>;
  return (
    <>
      <nav className="bar pager" aria-label="Pages of documents">
        <button
          type="button"
          disabled={!prev || query.isPlaceholderData}
          onClick={() => setAt({ place: { before: prev! }, before: Math.max(before - PAGE, 0) })}
        >
          Previous
        </button>
        <span className="quiet" role="status">
          {(before + 1).toLocaleString()} to {(before + items.length).toLocaleString()} of{" "}
          {production.documents.toLocaleString()}
        </span>
        <button
          type="button"
          disabled={!next || query.isPlaceholderData}
          onClick={() => setAt({ place: { after: next! }, before: before + items.length })}
        >
          Next
        </button>
      </nav>
      <div className="scroll" tabIndex={0} role="region" aria-label="Documents of the production">
        <table className="list" aria-busy={query.isPlaceholderData}>
          <thead>
            <tr>
              <th scope="col">Control number</th>
              <th scope="col">First number</th>
              <th scope="col">Last number</th>
              <th scope="col" className="num">
                Pages
              </th>
              <th scope="col">Numbers are</th>
            </tr>
          </thead>
          <tbody>
            {items.map((each) => (
              <tr key={each.exhibitId}>
                <th scope="row" className="mono name">
                  <Link href={`/cases/${production.caseId}/documents?open=${each.exhibitId}`}>
                    <Untrusted text={each.controlNumber} />
                  </Link>
                </th>
                <td className="mono whole">
                  <Untrusted text={each.batesBegin} />
                </td>
                <td className="mono whole">
                  <Untrusted text={each.batesEnd} />
                </td>
                <td className="num">
                  <Count value={each.pages} />
                </td>
                <td className={each.status === VOID ? "quiet" : undefined}>{each.status}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
