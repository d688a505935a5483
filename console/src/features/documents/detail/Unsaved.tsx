import { Link } from "wouter";
import { LeaveGuard } from "../../../ui/LeaveGuard";
import { Untrusted } from "../../../ui/Untrusted";
import { useHref } from "./useHref";
import { useUnsaved } from "./work";

/** The documents, besides the open one, whose changes are kept in this window, and the question before the page is left. */
export function Unsaved({ exhibitId, caseId }: { exhibitId: number | null; caseId: number }) {
  const unsaved = useUnsaved();
  const href = useHref(caseId);
  const others = unsaved.filter((each) => each.id !== exhibitId);
  return (
    <>
      {others.length > 0 && (
        <p className="notice">
          Not saved yet:{" "}
          {others.map((each, at) => (
            <span key={each.id}>
              {at > 0 && ", "}
              <Link href={each.caseId === caseId ? href(each.id) : `/cases/${each.caseId}/documents?open=${each.id}`}>
                <Untrusted text={each.controlNumber} />
              </Link>
            </span>
          ))}
        </p>
      )}
      <LeaveGuard isActive={unsaved.length > 0} title="Your changes are not saved" leave="Leave, and save them later">
        <p>
          What you have entered stays in this window until it is reloaded or closed: open{" "}
          {unsaved.map((each, at) => (
            <span key={each.id}>
              {at > 0 && ", "}
              <Untrusted text={each.controlNumber} />
            </span>
          ))}{" "}
          again to save it.
        </p>
      </LeaveGuard>
    </>
  );
}
