import { useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { useRefusal } from "../../../api/cases";
import { useMe } from "../../../api/me";
import { Dialog } from "../../../ui/Dialog";
import { useKeys } from "../../../ui/keys";
import { Untrusted } from "../../../ui/Untrusted";
import { hrefOf } from "../../../api/documentFilters";
import { isEmpty, type ActionProps, type Selection } from "../selection";
import { ExportDialog } from "./ExportDialog";
import { hrefToProduce, MOST_PRODUCED } from "./selected";
import { TagDialog } from "./TagDialog";
import type { Tagging } from "./useTagging";
import { describeTagging } from "./words";
import "./actions.css";

type Act = "tag" | "untag" | "export" | "produce";

/** What can be done with the chosen documents; `t` tags them. A viewer can export, and change nothing. */
export function Actions(props: ActionProps) {
  const { caseId, filters, selection, size } = props;
  const role = useMe().data?.role;
  const isRefused = useRefusal(caseId) !== null;
  const canExport = useRefusal(caseId, "end") === null;
  const canChange = role !== undefined && role !== "viewer" && !isRefused;
  const isNothing = isEmpty(selection, size) || size?.count === 0;
  const [act, setAct] = useState<Act | null>(null);
  const [tagged, setTagged] = useState<{ tagging: Tagging; of: Selection } | null>(null);
  const [, navigate] = useLocation();
  const from = useRef<Element | null>(null);
  const close = () => {
    setAct(null);
    // A dialog that is taken away while it is open leaves the focus nowhere.
    requestAnimationFrame(() => document.activeElement === document.body && returnTo(from.current));
  };
  const begin = (chosen: Act) => {
    from.current = document.activeElement;
    const href = chosen === "produce" ? hrefToProduce(caseId, filters, selection) : null;
    if (href) navigate(href);
    else setAct(chosen);
  };
  useKeys(
    "Chosen documents",
    canChange && !isNothing ? [{ keys: "t", does: "tag them", run: () => begin("tag") }] : [],
  );
  if (isNothing) return null;
  const dialog = { ...props, onClose: close };
  return (
    <>
      <span className="bar" role="group" aria-label="Actions for the chosen documents">
        {canChange && (
          <>
            <Button act="tag" label="Tag…" keys="t" begin={begin} />
            <Button act="untag" label="Remove tag…" begin={begin} />
          </>
        )}
        {canExport && <Button act="export" label="Export…" begin={begin} />}
        {canChange && <Button act="produce" label="Produce…" begin={begin} />}
      </span>
      {tagged?.of === selection && <Tagged caseId={caseId} tagging={tagged.tagging} />}
      {(act === "tag" || act === "untag") && (
        <TagDialog
          {...dialog}
          isRemoval={act === "untag"}
          onTagged={(tagging) => setTagged({ tagging, of: selection })}
        />
      )}
      {act === "export" && <ExportDialog {...dialog} />}
      {act === "produce" && <TagFirst onClose={close} onTag={() => setAct("tag")} />}
    </>
  );
}

/** Focus where the action was begun, or the list if that is gone. */
function returnTo(from: Element | null): void {
  const place = from?.isConnected && from !== document.body ? from : document.querySelector(".documents [role=grid]");
  if (place instanceof HTMLElement) place.focus();
}

function Button(props: { act: Act; label: string; keys?: string; begin: (act: Act) => void }) {
  return (
    <button type="button" aria-keyshortcuts={props.keys} onClick={() => props.begin(props.act)}>
      {props.label}
    </button>
  );
}

/** What was done to documents that were chosen one by one. */
function Tagged({ caseId, tagging: { tag, isRemoval, outcome } }: { caseId: number; tagging: Tagging }) {
  if (outcome === null) return null;
  return (
    <span className="quiet">
      <Link href={hrefOf(caseId, { tag: [tag] })}>
        <Untrusted text={tag} />
      </Link>
      : {describeTagging(outcome.documents, outcome.changed, isRemoval)}
    </span>
  );
}

function TagFirst({ onClose, onTag }: { onClose: () => void; onTag: () => void }) {
  return (
    <Dialog title="Tag them first" open onClose={onClose}>
      <p>
        A new production takes up to {MOST_PRODUCED} documents that are chosen one by one, or all that match filters.
        Give these a tag of their own, then show the documents with it and produce all of them.
      </p>
      <div className="bar">
        <button type="button" className="primary" autoFocus onClick={onTag}>
          Tag…
        </button>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
