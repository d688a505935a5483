import type { Schemas } from "../../api/client";
import { Failure } from "../../ui/Failure";
import { Skeleton } from "../../ui/Skeleton";
import { Untrusted } from "../../ui/Untrusted";
import { usePrefixes } from "./queries";

/** The numbers of the production, and what its prefix has come to in the case. */
export function Numbers({ production }: { production: Schemas["Production"] }) {
  const prefixes = usePrefixes(production.caseId);
  const { firstBates, lastBates, status } = production;
  const prefix = prefixes.data?.find((each) => each.prefix === production.prefix);
  return (
    <>
      <dl className="pairs">
        <dt>{status === "confirmed" ? "Given" : status === "cancelled" ? "Void" : "Reserved"}</dt>
        <dd>{firstBates === null ? "none" : <Range first={firstBates} last={lastBates!} />}</dd>
        {prefix && (
          <>
            <dt>Next of the prefix</dt>
            <dd className="mono">{prefix.nextBates ?? "none: its digits are used up"}</dd>
            <dt>Void in the case</dt>
            <dd>{prefix.voidRanges.length === 0 ? "none" : <VoidRanges ranges={prefix.voidRanges} />}</dd>
          </>
        )}
      </dl>
      {status === "cancelled" && firstBates !== null && (
        <p className="quiet">
          Void numbers are never given again: say so in the letter that goes with the next volume.
        </p>
      )}
      {prefixes.isPending && <Skeleton rows={2} />}
      {prefixes.isError && <Failure error={prefixes.error} again={() => void prefixes.refetch()} />}
    </>
  );
}

function Range({ first, last }: { first: string; last: string }) {
  return (
    <span className="mono">
      <Untrusted text={first} />
      {first !== last && (
        <>
          {" to "}
          <Untrusted text={last} />
        </>
      )}
    </span>
  );
}

function VoidRanges({ ranges }: { ranges: Schemas["BatesRange"][] }) {
  return (
    <ul className="names">
      {ranges.map((each) => (
        <li key={each.first}>
          <Range first={each.first} last={each.last} />
        </li>
      ))}
    </ul>
  );
}
