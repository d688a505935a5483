import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { Link, useSearchParams } from "wouter";
import type { Schemas } from "../../api/client";
import { Failure } from "../../ui/Failure";
import { announce } from "../../ui/LiveRegion";
import { toWords } from "../../ui/messages";
import { WaitingPage } from "../../ui/Skeleton";
import { useTitle } from "../../ui/title";
import { Untrusted } from "../../ui/Untrusted";
import { Count, Time } from "../../ui/values";
import { Changes } from "./Changes";
import { Download } from "./Download";
import { Files } from "./Files";
import { Findings } from "./Findings";
import { Numbers } from "./Numbers";
import { ProducedDocuments } from "./ProducedDocuments";
import { ProductionStatus } from "./ProductionStatus";
import { useProduction } from "./queries";
import { answer, nameStep, tellReason } from "./states";
import { Steps } from "./Steps";
import "./productions.css";

type Production = Schemas["Production"];

/** A production: is it delivered, under which numbers, and where is the volume? */
export default function ProductionPage({ productionId }: { productionId: number }) {
  const query = useProduction(productionId);
  const production = query.data;
  useTitle(`Production ${productionId}`, production?.case);
  useAnnouncedStatus(production);
  const again = () => void query.refetch();
  if (query.isError && !production)
    return (
      <section className="page productions">
        <p className="quiet crumbs">
          <Link href="/">Cases</Link>
        </p>
        <h1>Production {productionId}</h1>
        <Failure error={query.error} again={again} />
      </section>
    );
  if (!production) return <WaitingPage title={`Production ${productionId}`} />;
  return (
    <section className="page productions">
      <Title production={production} />
      {query.isError && <Failure error={query.error} again={again} />}
      <p className="answer">{answer(production)}</p>
      <Reason production={production} />
      <Changes production={production} />
      {production.status === "confirmed" && <Download production={production} />}
      <Steps production={production} />
      {production.warnings.length > 0 && (
        <section aria-labelledby="warnings">
          <h2 id="warnings">Warnings</h2>
          <Findings caseId={production.caseId} findings={production.warnings} />
        </section>
      )}
      <Parts production={production} />
    </section>
  );
}

function Title({ production }: { production: Production }) {
  return (
    <>
      <p className="quiet crumbs">
        <Link href="/">Cases</Link> /{" "}
        <Link href={`/cases/${production.caseId}/productions`}>
          <Untrusted text={production.case} />
        </Link>
      </p>
      <div className="bar">
        <h1>Production {production.id}</h1>
        <ProductionStatus value={production.status} />
      </div>
      <p className="quiet">
        volume <span className="mono">{production.volume}</span> · prefix{" "}
        <span className="mono">{production.prefix}</span>, {production.digits} digits, a number for each{" "}
        {production.numbering}
        {production.slipSheets && ", with slip sheets"} ·{" "}
        <Untrusted text={production.createdByName ?? production.createdBy} /> · <Time value={production.createdAt} />
      </p>
    </>
  );
}

/** Why it did not come to its end, and what an operator has to do. */
function Reason({ production }: { production: Production }) {
  const { reason, failedStep, remainingActions, status } = production;
  if (!reason && remainingActions.length === 0) return null;
  return (
    <div className="notice bad" role={status === "needs_attention" ? "alert" : undefined}>
      {reason && (
        <p>
          {failedStep && <strong>{nameStep(failedStep)}: </strong>}
          <Untrusted text={toWords(tellReason(reason))} />
        </p>
      )}
      {remainingActions.length > 0 && (
        <>
          <p>Left to do:</p>
          <ul>
            {remainingActions.map((each) => (
              <li key={each}>
                <Untrusted text={each} />
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

const PARTS = [
  ["documents", "Documents"],
  ["numbers", "Numbers"],
  ["files", "Files"],
] as const;

/** The parts of a production, one at a time; which one is in the address. */
function Parts({ production }: { production: Production }) {
  const [address] = useSearchParams();
  const shown = PARTS.find(([name]) => name === address.get("show"))?.[0] ?? "documents";
  const isThere = production.status === "confirmed";
  return (
    <section aria-label="Parts of the production">
      <nav className="tabs" aria-label="Parts">
        {PARTS.filter(([name]) => name !== "files" || isThere).map(([name, label]) => (
          <Link
            key={name}
            href={`/productions/${production.id}?show=${name}`}
            className="tab"
            replace
            aria-current={name === shown ? "page" : undefined}
          >
            {label}
            {name === "documents" && production.documents !== null && (
              <>
                {" "}
                <Count value={production.documents} />
              </>
            )}
          </Link>
        ))}
      </nav>
      {shown === "documents" && <ProducedDocuments production={production} />}
      {shown === "numbers" && <Numbers production={production} />}
      {shown === "files" && isThere && <Files productionId={production.id} />}
    </section>
  );
}

/** Have the change of a status read aloud, but not the status that a page opens with. */
function useAnnouncedStatus(production: Production | undefined) {
  const last = useRef<string>(undefined);
  const queries = useQueryClient();
  useEffect(() => {
    if (!production) return;
    if (last.current && last.current !== production.status) {
      announce(`Production ${production.id}: ${answer(production)}`);
      // Numbers were given, or are void now.
      void queries.invalidateQueries({ queryKey: ["bates-prefixes", production.caseId] });
    }
    last.current = production.status;
  }, [production, queries]);
}
