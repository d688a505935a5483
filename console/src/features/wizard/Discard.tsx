import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { useLocation } from "wouter";
import { Dialog } from "../../ui/Dialog";
import { Failure } from "../../ui/Failure";
import { giveUp } from "./begin";
import { forgetKept } from "./kept";
import type { Draft } from "./queries";

/** The button that gives up a draft, after a question. */
export function Discard({ draft }: { draft: Draft }) {
  const [isOpen, setOpen] = useState(false);
  const [, navigate] = useLocation();
  return (
    <>
      <button type="button" className="end" onClick={() => setOpen(true)}>
        Give up this draft
      </button>
      {isOpen && (
        <GiveUp
          draft={draft}
          title="Give up this draft?"
          label="Give up this draft"
          onDone={() => navigate("/", { replace: true })}
          onClose={() => setOpen(false)}
        >
          Nothing of it is in the case. What was sent stays in the bucket until it is purged, and is not imported.
        </GiveUp>
      )}
    </>
  );
}

interface GiveUpProps {
  draft: Draft;
  title: string;
  label: string;
  onDone: () => void;
  onClose: () => void;
  children: ReactNode;
}

/** The question before a draft is given up: its imports are cancelled, of which nothing was in the case. */
export function GiveUp({ draft, title, label, onDone, onClose, children }: GiveUpProps) {
  const [key] = useState(() => crypto.randomUUID());
  const queries = useQueryClient();
  const discard = useMutation({
    mutationFn: () => giveUp(draft, key),
    onSuccess: () => {
      forgetKept(draft.place);
      void queries.invalidateQueries({ queryKey: ["draft-import"] });
    },
  });
  return (
    <Dialog title={title} open onClose={onClose}>
      <p>{children}</p>
      {discard.isError && <Failure error={discard.error} />}
      <div className="bar">
        <button
          type="button"
          className="primary"
          disabled={discard.isPending}
          // Where the user goes next is decided only while this page is open.
          onClick={() => discard.mutate(undefined, { onSuccess: onDone })}
        >
          {label}
        </button>
        <button type="button" onClick={onClose}>
          Keep it
        </button>
      </div>
    </Dialog>
  );
}
