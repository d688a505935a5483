import type { Case } from "../api/cases";
import { Untrusted } from "./Untrusted";
import { Time } from "./values";

type Stated = Pick<Case, "status" | "hold" | "purge">;

/** The state of a case that is not simply open, in words. */
export function nameState({ status, hold, purge }: Stated): string | null {
  const words = [status !== "open" && status, hold && "on hold", purge && `to be purged from ${purge.after} on`];
  return words.filter(Boolean).join(", ") || null;
}

/** That state beside the name of the case, in a list. */
export function CaseState({ of }: { of: Stated }) {
  const words = nameState(of);
  return words === null ? null : <span className={`status ${of.hold ? "warn" : "idle"}`}>{words}</span>;
}

/** What the state of a case means for what can be done in it, at the top of its pages. */
export function CaseBanner({ of: { status, hold, purge } }: { of: Stated }) {
  return (
    <>
      {hold && (
        <p className="notice warn">
          <strong>Legal hold</strong> since <Time value={hold.heldAt} />: “
          <Untrusted text={hold.reason} />
          ”. Nothing of the case can be removed: no undo, no deletion of a volume or a period of custody.
        </p>
      )}
      {status === "closed" && (
        <p className="notice">
          <strong>This case is closed.</strong> You can read and export it; nothing can be imported or changed.{" "}
          {purge
            ? `Everything of it is deleted for good from ${purge.after} on, unless an administrator withdraws that.`
            : "An administrator can reopen it in its settings."}
        </p>
      )}
      {(status === "purging" || status === "purged") && (
        <p className="notice bad">
          <strong>{status === "purged" ? "This case was purged." : "This case is being purged."}</strong> Its documents
          and files {status === "purged" ? "are" : "are being"} deleted for good, and nothing can be done in it.
        </p>
      )}
    </>
  );
}
