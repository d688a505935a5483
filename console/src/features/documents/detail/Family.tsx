import { Link } from "wouter";
import type { Schemas } from "../../../api/client";
import { Failure } from "../../../ui/Failure";
import { More } from "../../../ui/More";
import { Skeleton } from "../../../ui/Skeleton";
import { Untrusted } from "../../../ui/Untrusted";
import { count } from "../../../ui/values";
import type { Exhibit } from "./fields";
import { useFamily } from "./queries";
import { Section } from "./Section";
import { useHref } from "./useHref";

/** The parent of a document and all its attachments, in order. */
export function Family({ exhibit }: { exhibit: Exhibit }) {
  return (
    <Section name="Family" note={exhibit.parentControlNumber === null ? undefined : "an attachment"}>
      <Members exhibit={exhibit} />
    </Section>
  );
}

function Members({ exhibit }: { exhibit: Exhibit }) {
  const family = useFamily(exhibit);
  const href = useHref(exhibit.caseId);
  if (family.isPending) return <Skeleton rows={2} />;
  if (family.isError && !family.data) return <Failure error={family.error} again={() => void family.refetch()} />;
  const members = family.data.pages.flatMap((page) => page.items);
  const parent = exhibit.parentControlNumber;
  const isParentThere = members.some((each) => each.controlNumber === parent);
  return (
    <>
      {parent !== null && !isParentThere && !family.hasNextPage && (
        <p>
          Attachment of <Untrusted text={parent} />, which is not in the case.
        </p>
      )}
      {members.length > 1 ? (
        <>
          <ul className="plain family">
            {members.map((each) => (
              <Member key={each.id} each={each} href={each.id === exhibit.id ? null : href(each.id)} />
            ))}
          </ul>
          {!family.hasNextPage && <p className="quiet">{count(members.length, "document")}</p>}
        </>
      ) : (
        parent === null && <p className="quiet">Not an attachment, and without attachments.</p>
      )}
      <More pages={family} what="of the family" />
    </>
  );
}

function Member({ each, href }: { each: Schemas["ExhibitSummary"]; href: string | null }) {
  const number = <Untrusted text={each.controlNumber} />;
  return (
    <li>
      {each.parentControlNumber !== null && (
        <span className="quiet">
          <span aria-hidden="true">└ </span>
          <span className="unseen">attachment </span>
        </span>
      )}
      <span className="mono">
        {href === null ? <strong aria-current="true">{number}</strong> : <Link href={href}>{number}</Link>}
      </span>{" "}
      <span className="quiet">
        <Untrusted text={(each.title ?? each.fileName ?? "").slice(0, 100)} />
      </span>
    </li>
  );
}
