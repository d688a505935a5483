import { useEffect } from "react";
import { Link, Redirect } from "wouter";
import type { Schemas } from "../../api/client";
import { useCanImport, useMe } from "../../api/me";
import { Failure } from "../../ui/Failure";
import { useTitle } from "../../ui/title";
import { WaitingPage } from "../../ui/Skeleton";
import { chooseImports, useImages, useImport, useVolume, type Draft } from "./queries";
import { Wizard } from "./Wizard";
import "./wizard.css";
import { isRunning } from "../../ui/Status";

/** The page of a new import, and of the drafts that the server keeps: of a load file, or of a volume. */
export default function WizardPage({ importId, volumeId }: { importId?: number; volumeId?: number }) {
  const me = useMe();
  useTitle("Import files");
  const canImport = useCanImport();
  if (canImport === undefined) return <Waiting error={me.error} again={() => void me.refetch()} />;
  if (!canImport) return <ForEditors />;
  if (importId !== undefined) return <ImportDraft importId={importId} key={importId} />;
  if (volumeId !== undefined) return <VolumeDraft volumeId={volumeId} key={volumeId} />;
  return <Wizard draft={null} key="new" />;
}

function ForEditors() {
  return (
    <section className="page">
      <h1>Import files</h1>
      <p>
        Your role is viewer: you can read the cases. To import files, ask your administrator for the role editor.{" "}
        <Link href="/">Go to the cases</Link>
      </p>
    </section>
  );
}

function Waiting({ error, again }: { error?: unknown; again?: () => void }) {
  if (!error) return <WaitingPage title="Import files" />;
  return (
    <section className="page">
      <p className="quiet crumbs">
        <Link href="/">Cases</Link>
      </p>
      <h1>Import files</h1>
      <Failure error={error} again={again} />
    </section>
  );
}

/** Whether nothing was imported yet: also of an import that began without a check, and whose file is not read. */
const isPrepared = (rows: Schemas["ImportDetails"]) => rows.phase === "check" || rows.actions.includes("options");

function ImportDraft({ importId }: { importId: number }) {
  const found = useImport(importId);
  if (!found.data) return <Waiting error={found.error} again={() => void found.refetch()} />;
  const rows = found.data;
  // A draft that has been run is an import, and a load file of a volume is prepared with its volume.
  if (rows.volumeId !== null) return <Redirect to={`/import/volume/${rows.volumeId}`} replace />;
  if (!isPrepared(rows)) return <Redirect to={`/imports/${importId}`} replace />;
  const { case: caseName, caseId, fileName: name } = rows;
  return (
    <Wizard
      draft={{
        place: `import:${importId}`,
        case: caseName,
        caseId,
        name,
        rows,
        images: [],
        imageCount: 0,
        volume: null,
      }}
    />
  );
}

function VolumeDraft({ volumeId }: { volumeId: number }) {
  const found = useVolume(volumeId);
  const chosen = found.data ? chooseImports(found.data) : { rows: null, images: [] };
  const rows = useImport(chosen.rows);
  const isBusy = rows.data !== undefined && (isRunning(rows.data.status) || rows.data.wanted === "check");
  const images = useImages(chosen.images, isBusy);
  const rowsStatus = rows.data?.status;
  useEffect(() => void images.refetch(), [rowsStatus]);
  if (!found.data) return <Waiting error={found.error} again={() => void found.refetch()} />;
  if (images.error && !images.data) return <Waiting error={images.error} again={() => void images.refetch()} />;
  const volume = found.data;
  if (rows.data && !isPrepared(rows.data)) return <Redirect to={`/imports/${rows.data.id}`} replace />;
  const draft: Draft = {
    place: `volume:${volumeId}`,
    case: volume.case,
    caseId: volume.caseId,
    name: volume.name,
    rows: chosen.rows === null ? null : (rows.data ?? null),
    images: chosen.images.length ? (images.data ?? []) : [],
    imageCount: chosen.images.length,
    volume,
  };
  return <Wizard draft={draft} />;
}
