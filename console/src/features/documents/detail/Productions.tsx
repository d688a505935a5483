import { Link } from "wouter";
import type { Schemas } from "../../../api/client";
import { Untrusted } from "../../../ui/Untrusted";
import { Section } from "./Section";

type Range = Schemas["ProductionNumber"];

/** The ranges of Bates numbers that a document was delivered under, and who says so. */
export function Productions({ ranges }: { ranges: readonly Range[] }) {
  if (ranges.length === 0) return null;
  return (
    <Section name="Production numbers" note={ranges.length.toLocaleString()}>
      <ul className="plain">
        {ranges.map((each, at) => (
          <li key={at}>
            <span className="mono">
              <Untrusted text={each.batesBegin} />
              {each.batesEnd !== null && each.batesEnd !== each.batesBegin && (
                <>
                  {" – "}
                  <Untrusted text={each.batesEnd} />
                </>
              )}
            </span>{" "}
            <Source {...each} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Source({ label, importId, line, productionId }: Range) {
  return (
    <span className="quiet">
      {label !== null && <Untrusted text={label} />}{" "}
      {productionId !== null && <Link href={`/productions/${productionId}`}>production {productionId}</Link>}
      {importId !== null && (
        <>
          <Link href={`/imports/${importId}`}>import {importId}</Link>
          {line !== null && `, line ${line.toLocaleString()}`}
        </>
      )}
      {productionId === null && importId === null && "set by a user, before an overlay replaced it"}
    </span>
  );
}
