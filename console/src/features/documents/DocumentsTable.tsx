import { Link } from "wouter";
import type { Schemas } from "../../api/client";
import { Untrusted } from "../../ui/Untrusted";
import { Count } from "../../ui/values";
import { writeFilters, type Filters } from "./filters";

type Summary = Schemas["ExhibitSummary"];

interface Props {
  caseId: number;
  documents: Summary[];
  filters: Filters;
  open: number | null;
}

export function DocumentsTable({ caseId, documents, filters, open }: Props) {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Documents">
      <table className="list">
        <thead>
          <tr>
            <th scope="col">Control number</th>
            <th scope="col">Title</th>
            <th scope="col">Custodian</th>
            <th scope="col">Tags</th>
            <th scope="col">Date</th>
            <th scope="col">Files</th>
            <th scope="col" className="num">
              Pages
            </th>
            <th scope="col">Bates, first</th>
          </tr>
        </thead>
        <tbody>
          {documents.map((each) => (
            <Row key={each.id} each={each} href={hrefOf(caseId, each.id, filters)} isOpen={each.id === open} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function hrefOf(caseId: number, id: number, filters: Filters): string {
  const address = writeFilters(filters);
  address.set("open", String(id));
  return `/cases/${caseId}/documents?${address}`;
}

function Row({ each, href, isOpen }: { each: Summary; href: string; isOpen: boolean }) {
  const files = [each.hasNative && "native", each.hasText && "text"].filter(Boolean).join(", ");
  return (
    <tr className={isOpen ? "chosen" : undefined}>
      <th scope="row" className="mono">
        {each.parentControlNumber !== null && <span aria-label="attachment">└ </span>}
        <Link href={href} id={`document-${each.id}`} aria-current={isOpen ? "true" : undefined}>
          <Untrusted text={each.controlNumber} />
        </Link>
      </th>
      <td>
        <div className="clip">
          <Untrusted text={each.title ?? each.fileName} />
        </div>
      </td>
      <td>
        <Names names={each.custodians} />
      </td>
      <td>
        <Names names={each.tags} />
      </td>
      <td className="day">{each.documentDate?.slice(0, 10) ?? <span className="quiet">–</span>}</td>
      <td className="files">{files || <span className="quiet">–</span>}</td>
      <td className="num">
        <Count value={each.pageCount} />
      </td>
      <td className="mono">
        <Untrusted text={each.batesBegin} />
      </td>
    </tr>
  );
}

/** The names of custodians or tags, the first few of many. */
function Names({ names }: { names: string[] | null | undefined }) {
  if (!names?.length) return <span className="quiet">–</span>;
  return (
    <div className="clip">
      {names.slice(0, 5).map((name, index) => (
        <span key={name}>
          {index > 0 && ", "}
          <Untrusted text={name} />
        </span>
      ))}
      {names.length > 5 && ` and ${names.length - 5} more`}
    </div>
  );
}
