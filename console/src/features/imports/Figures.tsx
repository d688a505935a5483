import { Link } from "wouter";
import type { Schemas } from "../../api/client";
import { Count } from "../../ui/values";
import { isWritten } from "./answer";

type ImportState = Schemas["ImportState"];
type Figure = [name: string, value: number, href?: string];

/** The numbers of an import; each that counts rows or documents is a link to them. */
export function Figures({ state }: { state: ImportState }) {
  return (
    <dl className="figures">
      {(state.phase === "check" ? ofCheck(state) : ofImport(state)).map(([name, value, href]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <Figure value={value} href={href} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Figure({ value, href }: { value: number; href?: string }) {
  if (!href || value === 0) return <Count value={value} />;
  if (href.startsWith("#"))
    return (
      <a href={href}>
        <Count value={value} />
      </a>
    );
  return (
    <Link href={href}>
      <Count value={value} />
    </Link>
  );
}

function ofImport(state: ImportState): Figure[] {
  const documents = isWritten(state) ? `/cases/${state.caseId}/documents` : undefined;
  const areRows = state.kind === "rows";
  return [
    [areRows ? "rows" : "documents", state.rowsSeen],
    ["imported", state.imported, areRows && documents ? `${documents}?import=${state.id}` : undefined],
    ["updated", state.updated, documents && `${documents}?changed=${state.id}`],
    ["unchanged", state.unchanged],
    ["rejected", state.rejected, "#rejected"],
    ["open rejections", state.openRejections, `/imports/${state.id}/fix`],
    ["warnings", state.warnings, "#warnings"],
  ];
}

function ofCheck(state: ImportState): Figure[] {
  return [
    [state.kind === "rows" ? "rows" : "documents", state.rowsSeen],
    ["would be imported", state.imported],
    ["would be updated", state.updated],
    ["unchanged", state.unchanged],
    ["would be rejected", state.rejected, "#check"],
    ["warnings", state.warnings, "#check"],
  ];
}
