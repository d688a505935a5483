import { Link } from "wouter";
import type { Schemas } from "../../api/client";
import { useCanImport } from "../../api/me";
import { useCase } from "../../api/cases";
import { CaseNav } from "../../ui/CaseNav";
import { Failure } from "../../ui/Failure";
import { OpenRows } from "../../ui/OpenRows";
import { More } from "../../ui/More";
import { Skeleton } from "../../ui/Skeleton";
import { Status } from "../../ui/Status";
import { useTitle } from "../../ui/title";
import { Untrusted } from "../../ui/Untrusted";
import { count, Count, Time } from "../../ui/values";
import { isDraft, isWritten } from "./answer";
import { OpenVolumes } from "./OpenVolumes";
import { useImports } from "./queries";
import "./imports.css";

type ImportState = Schemas["ImportState"];

export default function ImportsPage({ caseId }: { caseId: number }) {
  const ofCase = useCase(caseId);
  useTitle("Imports", ofCase.data?.name);
  const imports = useImports(caseId);
  const shown = imports.data?.pages.flatMap((page) => page.items) ?? [];
  const failed = ofCase.error ?? imports.error;
  return (
    <section className="page imports">
      <p className="quiet crumbs">
        <Link href="/">Cases</Link>
      </p>
      <h1>{ofCase.data ? <Untrusted text={ofCase.data.name} /> : "Case"}</h1>
      <CaseNav caseId={caseId} name={ofCase.data?.name} current="imports" />
      {ofCase.data && (
        <p className="quiet">
          <Link href={`/cases/${caseId}/documents`}>{count(ofCase.data.documents, "document")}</Link> in{" "}
          <Count value={ofCase.data.imports} /> {ofCase.data.imports === 1 ? "import or check" : "imports and checks"} ·
          open rejections <OpenRows value={ofCase.data.openRejections} />
        </p>
      )}
      {imports.isPending && !failed && <Skeleton rows={6} />}
      {failed && <Failure error={failed} again={() => void (ofCase.refetch(), imports.refetch())} />}
      {!failed && <OpenVolumes caseId={caseId} />}
      {imports.isSuccess && shown.length === 0 && (
        <p className="quiet">Nothing was imported into this case yet. Import files with the button above.</p>
      )}
      {shown.length > 0 && <ImportsTable imports={shown} />}
      <More pages={imports} what="imports" />
    </section>
  );
}

function ImportsTable({ imports }: { imports: ImportState[] }) {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Imports">
      <table className="list">
        <thead>
          <tr>
            <th scope="col">Import</th>
            <th scope="col">File</th>
            <th scope="col">Status</th>
            <th scope="col" className="num">
              Rows
            </th>
            <th scope="col" className="num">
              Imported
            </th>
            <th scope="col" className="num">
              Open rejections
            </th>
            <th scope="col">Started</th>
            <th scope="col">By</th>
          </tr>
        </thead>
        <tbody>
          {imports.map((each) => (
            <ImportRow key={each.id} each={each} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The page of an import, and of a draft the page on which it is prepared, for those who may do that. */
function Name({ each }: { each: ImportState }) {
  const canImport = useCanImport();
  const [page, draft] = [`/imports/${each.id}`, `/import/${each.id}`];
  if (each.status === "checked")
    return (
      <>
        <Link href={page}>Check {each.id}</Link>
        {canImport && (
          <>
            {" "}
            · <Link href={draft}>Go on</Link>
          </>
        )}
      </>
    );
  if (isDraft(each)) return <Link href={canImport ? draft : page}>Draft {each.id}</Link>;
  return <Link href={page}>{each.phase === "check" ? `Check ${each.id}` : `Import ${each.id}`}</Link>;
}

function ImportRow({ each }: { each: ImportState }) {
  return (
    <tr>
      <th scope="row" className="whole">
        <Name each={each} />
      </th>
      <td className="file">
        <Untrusted text={each.fileName} />
        {each.volumeName !== null && (
          <span className="quiet">
            {" "}
            · volume <Untrusted text={each.volumeName} />
          </span>
        )}
        {each.corrects !== null && (
          <span className="quiet">
            {" "}
            · corrects <Link href={`/imports/${each.corrects}`}>import {each.corrects}</Link>
          </span>
        )}
      </td>
      <td>
        <Status value={each.status} openRejections={each.corrects === null ? each.openRejections : undefined} />
      </td>
      <td className="num">
        <Count value={each.rowsSeen} />
      </td>
      <td className="num">
        {isWritten(each) && each.kind === "rows" ? (
          <Link href={`/cases/${each.caseId}/documents?import=${each.id}`}>
            <Count value={each.imported} />
          </Link>
        ) : (
          <Count value={each.imported} />
        )}
      </td>
      <td className="num">
        {each.openRejections > 0 ? (
          <Link href={`/imports/${each.id}/fix`}>
            <OpenRows value={each.openRejections} />
          </Link>
        ) : (
          <Count value={0} />
        )}
      </td>
      <td className="whole">
        <Time value={each.startedAt} />
      </td>
      <td className="by">
        <Untrusted text={each.userName ?? each.userId} />
      </td>
    </tr>
  );
}
