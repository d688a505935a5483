import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { api, type Schemas } from "../../api/client";
import { useRefusal } from "../../api/cases";
import { useMe } from "../../api/me";
import { ConfirmDialog } from "../../ui/ConfirmDialog";
import { describeVoid, isCancellable } from "./states";

type Production = Schemas["Production"];
type Change = "cancel" | "retry";

const LABELS: Record<Change, string> = { cancel: "Cancel the production", retry: "Go on with it" };

/** What the state of the production allows; changes are explained before they happen. */
export function Changes({ production }: { production: Production }) {
  const role = useMe().data?.role;
  const [chosen, setChosen] = useState<Change | null>(null);
  const cannotDraft = useRefusal(production.caseId);
  const refusal = useRefusal(production.caseId, "end");
  const [cancellable, stuck] = [isCancellable(production), production.status === "needs_attention"];
  if (!role) return null;
  if (refusal) return <p className="quiet">{refusal}</p>;
  return (
    <>
      {production.status === "cancelled" && role !== "viewer" && !cannotDraft && <DraftAgain production={production} />}
      {cancellable && role === "admin" && (
        <div className="bar">
          <button type="button" onClick={() => setChosen("cancel")}>
            {LABELS.cancel}…
          </button>
        </div>
      )}
      {cancellable && role === "editor" && (
        <p className="quiet">Cancelling requires the role admin, because it voids numbers for good.</p>
      )}
      {stuck && role !== "viewer" && (
        <div className="bar">
          <button type="button" className="primary" onClick={() => setChosen("retry")}>
            {LABELS.retry}…
          </button>
          <span className="quiet">after the cause is fixed</span>
        </div>
      )}
      {stuck && role === "viewer" && (
        <p className="quiet">Going on with it requires the role editor; an administrator grants it.</p>
      )}
      {chosen && <ChangeDialog production={production} change={chosen} onClose={() => setChosen(null)} />}
    </>
  );
}

/** The way to the draft that this production was made of, if this window has it; otherwise to one with its numbers. */
function DraftAgain({ production }: { production: Production }) {
  const kept = (history.state as { draft?: unknown } | null)?.draft;
  const { prefix, volume, digits, numbering, slipSheets } = production;
  const address = new URLSearchParams({ prefix, digits: String(digits), volume, numbering });
  if (slipSheets) address.set("slips", "1");
  const draft = typeof kept === "string" ? kept : `?${address.toString()}`;
  return (
    <div className="bar">
      <Link href={`/cases/${production.caseId}/productions/new${draft}`} className="button primary">
        Draft it again
      </Link>
    </div>
  );
}

function Explained({ production, change }: { production: Production; change: Change }) {
  if (change === "retry")
    return <p>It goes on where it stopped: what is done is not done a second time, and it takes no other numbers.</p>;
  return (
    <>
      <p>{describeVoid(production)}</p>
      <p>The files that were copied are deleted. The documents of the case stay as they are.</p>
    </>
  );
}

function ChangeDialog(props: { production: Production; change: Change; onClose: () => void }) {
  const { production, change, onClose } = props;
  const queries = useQueryClient();
  const productionId = production.id;
  const send = (key: string) => {
    const params = { params: { path: { productionId }, header: { "Idempotency-Key": key } } };
    return change === "cancel"
      ? api.POST("/productions/{productionId}/cancel", params)
      : api.POST("/productions/{productionId}/retry", params);
  };
  const onSettled = () => queries.invalidateQueries({ queryKey: ["production", productionId] });
  return (
    <ConfirmDialog label={LABELS[change]} send={send} onSettled={onSettled} onClose={onClose}>
      <Explained production={production} change={change} />
    </ConfirmDialog>
  );
}
