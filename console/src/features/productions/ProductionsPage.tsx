import { Link } from "wouter";
import type { Schemas } from "../../api/client";
import { useCase, useRefusal } from "../../api/cases";
import { useCanImport } from "../../api/me";
import { CaseNav } from "../../ui/CaseNav";
import { Failure } from "../../ui/Failure";
import { More } from "../../ui/More";
import { Skeleton } from "../../ui/Skeleton";
import { useTitle } from "../../ui/title";
import { Untrusted } from "../../ui/Untrusted";
import { Count, Time } from "../../ui/values";
import { ProductionStatus } from "./ProductionStatus";
import { useProductions } from "./queries";
import "./productions.css";

/** The productions of a case, newest first. */
export default function ProductionsPage({ caseId }: { caseId: number }) {
  const ofCase = useCase(caseId);
  useTitle("Productions", ofCase.data?.name);
  const productions = useProductions(caseId);
  const isRefused = useRefusal(caseId) !== null;
  const canProduce = useCanImport() && !isRefused;
  const shown = productions.data?.pages.flatMap((page) => page.items) ?? [];
  const failed = ofCase.error ?? productions.error;
  return (
    <section className="page productions">
      <p className="quiet crumbs">
        <Link href="/">Cases</Link>
      </p>
      <h1>{ofCase.data ? <Untrusted text={ofCase.data.name} /> : "Case"}</h1>
      <CaseNav caseId={caseId} name={ofCase.data?.name} current="productions" />
      {canProduce && (
        <div className="bar">
          <Link href={`/cases/${caseId}/productions/new`} className="button primary">
            New production
          </Link>
        </div>
      )}
      {productions.isPending && !failed && <Skeleton rows={6} />}
      {failed && <Failure error={failed} again={() => void (ofCase.refetch(), productions.refetch())} />}
      {productions.isSuccess && shown.length === 0 && <Empty caseId={caseId} />}
      {shown.length > 0 && <ProductionsTable productions={shown} />}
      <More pages={productions} what="productions" />
    </section>
  );
}

function Empty({ caseId }: { caseId: number }) {
  return (
    <div className="quiet">
      <p>Nothing has been produced from this case yet.</p>
      <p>
        A production gives documents Bates numbers and writes their natives, texts and images with a DAT, an OPT file
        and a manifest to a volume, which you download and deliver. Tag what is to be produced in the{" "}
        <Link href={`/cases/${caseId}/documents`}>documents</Link>; a draft then shows the numbers before any is used.
      </p>
    </div>
  );
}

function ProductionsTable({ productions }: { productions: Schemas["ProductionSummary"][] }) {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Productions">
      <table className="list">
        <thead>
          <tr>
            <th scope="col">Production</th>
            <th scope="col">Volume</th>
            <th scope="col">Status</th>
            <th scope="col" className="num">
              Documents
            </th>
            <th scope="col">Bates numbers</th>
            <th scope="col">Requested</th>
            <th scope="col">By</th>
          </tr>
        </thead>
        <tbody>
          {productions.map((each) => (
            <ProductionRow key={each.id} each={each} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function ProductionRow({ each }: { each: Schemas["ProductionSummary"] }) {
  const page = `/productions/${each.id}`;
  return (
    <tr>
      <th scope="row" className="whole">
        <Link href={page}>Production {each.id}</Link>
      </th>
      <td className="whole mono">
        <Untrusted text={each.volume} />
      </td>
      <td>
        <ProductionStatus value={each.status} />
      </td>
      <td className="num">
        {each.documents ? (
          <Link href={`${page}?show=documents`}>
            <Count value={each.documents} />
          </Link>
        ) : (
          <Count value={each.documents} />
        )}
      </td>
      <td className="mono range">
        {each.firstBates === null ? (
          <span className="quiet">not reserved</span>
        ) : (
          <>
            <Untrusted text={each.firstBates} />–<wbr />
            <Untrusted text={each.lastBates} />
            {each.status === "cancelled" && <span className="quiet"> void</span>}
          </>
        )}
      </td>
      <td className="whole">
        <Time value={each.createdAt} />
      </td>
      <td className="by">
        <Untrusted text={each.createdByName ?? each.createdBy} />
      </td>
    </tr>
  );
}
