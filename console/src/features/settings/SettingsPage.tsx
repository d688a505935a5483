import { useState } from "react";
import { Link } from "wouter";
import { useCase, type Case } from "../../api/cases";
import { useMe } from "../../api/me";
import { CaseNav } from "../../ui/CaseNav";
import { nameState } from "../../ui/CaseState";
import { Failure } from "../../ui/Failure";
import { Skeleton } from "../../ui/Skeleton";
import { useTitle } from "../../ui/title";
import { Untrusted } from "../../ui/Untrusted";
import { Time } from "../../ui/values";
import { listActs, type Act } from "./acts";
import { CaseDialog, LABELS } from "./CaseDialog";
import { Certificate } from "./Certificate";

/** The name and the state of a case, and for administrators what changes them. */
export default function SettingsPage({ caseId }: { caseId: number }) {
  const found = useCase(caseId);
  const role = useMe().data?.role;
  useTitle("Settings", found.data?.name);
  return (
    <section className="page">
      <p className="quiet crumbs">
        <Link href="/">Cases</Link>
      </p>
      <h1>{found.data ? <Untrusted text={found.data.name} /> : "Case"}</h1>
      <CaseNav caseId={caseId} name={found.data?.name} current="settings" />
      {found.isPending && <Skeleton rows={4} />}
      {found.isError && <Failure error={found.error} again={() => void found.refetch()} />}
      {found.data && <State of={found.data} />}
      {found.data && <Certificate of={found.data} />}
      {found.data && role === "admin" && <Acts of={found.data} />}
      {role !== undefined && role !== "admin" && (
        <p className="quiet">Only an administrator can rename, close, hold or purge a case.</p>
      )}
    </section>
  );
}

function State({ of }: { of: Case }) {
  const { hold, purge } = of;
  return (
    <dl className="pairs">
      <dt>State</dt>
      <dd>{nameState(of) ?? "open"}</dd>
      <dt>Created</dt>
      <dd>
        <Time value={of.createdAt} />
      </dd>
      {hold && (
        <>
          <dt>Held by</dt>
          <dd>
            <Untrusted text={hold.heldBy} />, <Time value={hold.heldAt} />
          </dd>
        </>
      )}
      {purge && (
        <>
          <dt>Purge requested by</dt>
          <dd>
            <Untrusted text={purge.requestedBy} />, <Time value={purge.requestedAt} />
          </dd>
        </>
      )}
    </dl>
  );
}

function Acts({ of }: { of: Case }) {
  const [act, setAct] = useState<Act | null>(null);
  const acts = listActs(of);
  if (acts.length === 0) return null;
  return (
    <div className="bar" role="group" aria-label="Changes of the case">
      {acts.map((each) => (
        <button key={each} type="button" onClick={() => setAct(each)}>
          {LABELS[each]}…
        </button>
      ))}
      {act && <CaseDialog of={of} act={act} onClose={() => setAct(null)} />}
    </div>
  );
}
