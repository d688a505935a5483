import { Link } from "wouter";
import { useExcluded, type Excluded, type Total } from "../facets";
import { hrefOf, isFiltered, type Filters } from "../../../api/documentFilters";
import { Count } from "../../../ui/values";
import { Untrusted } from "../../../ui/Untrusted";
import { PartInWords } from "./Chips";

/** A list without documents: which filter excludes the most, with the way to the list without it. */
export function NoMatches({ caseId, filters }: { caseId: number; filters: Filters }) {
  const excluded = useExcluded(caseId, filters, isFiltered(filters));
  if (!isFiltered(filters) && filters.from === undefined) return <NoDocuments caseId={caseId} />;
  return (
    <div className="empty">
      <h2>No document matches</h2>
      {filters.from !== undefined && (
        <p>
          No document that matches has the control number “<Untrusted text={filters.from} />” or a later one.{" "}
          <Link href={hrefOf(caseId, { ...filters, from: undefined })}>Begin the list at its start</Link>.
        </p>
      )}
      {excluded.length > 0 && (
        <ul className="excluded" aria-label="Without one of the filters">
          {excluded.map((each) => (
            <Without key={`${each.part.name} ${each.part.value}`} caseId={caseId} each={each} />
          ))}
        </ul>
      )}
      {filters.title !== undefined && /\d/.test(filters.title) && <IsItANumber caseId={caseId} text={filters.title} />}
      <p>
        <Link href={hrefOf(caseId, {})}>Show all documents</Link>. A row that was rejected is not a document yet:{" "}
        <Link href={`/cases/${caseId}/imports`}>see the imports</Link>.
      </p>
    </div>
  );
}

function Without({ caseId, each: { part, total } }: { caseId: number; each: Excluded }) {
  return (
    <li>
      Without the filter “<PartInWords part={part} isLinked={false} />
      ”:{" "}
      {total?.count === 0 && !total.isAtLeast ? (
        "still none"
      ) : (
        <Link href={hrefOf(caseId, part.without)}>
          {total === undefined ? "being counted" : total === null ? "see the list" : <TotalInWords total={total} />}
        </Link>
      )}
    </li>
  );
}

/** A number of documents, which counting may have stopped at. */
export function TotalInWords({ total: { count, isAtLeast } }: { total: Total }) {
  return (
    <>
      {isAtLeast && "at least "}
      <Count value={count} /> {count === 1 ? "document" : "documents"}
    </>
  );
}

function IsItANumber({ caseId, text }: { caseId: number; text: string }) {
  return (
    <p>
      Is “<Untrusted text={text} />” a number? Look for it as{" "}
      <Link href={hrefOf(caseId, { bates: text })}>Bates number</Link> or{" "}
      <Link href={hrefOf(caseId, { from: text })}>go to the control number</Link>.
    </p>
  );
}

function NoDocuments({ caseId }: { caseId: number }) {
  return (
    <div className="empty">
      <h2>There are no documents in this case</h2>
      <p>
        An import adds them. <Link href={`/cases/${caseId}/imports`}>See the imports of this case</Link> and what is
        open in them.
      </p>
    </div>
  );
}
