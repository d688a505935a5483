import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { Dialog } from "../../ui/Dialog";
import { Failure } from "../../ui/Failure";
import { giveUp } from "./begin";
import { forgetKept } from "./kept";
import type { Draft } from "./queries";

/** Give up a draft: its imports are cancelled, and nothing of them was in the case. */
export function Discard({ draft }: { draft: Draft }) {
  const [key, setKey] = useState<string | null>(null);
  const [, navigate] = useLocation();
  const queries = useQueryClient();
  const discard = useMutation({
    mutationFn: (decided: string) => giveUp(draft, decided),
    onSuccess: () => {
      forgetKept(draft.place);
      navigate("/", { replace: true });
      void queries.invalidateQueries({ queryKey: ["draft-import"] });
    },
  });
  return (
    <>
      <button type="button" className="end" onClick={() => setKey(crypto.randomUUID())}>
        Give up this draft
      </button>
      {key !== null && (
        <Dialog title="Give up this draft?" open onClose={() => setKey(null)}>
          <p>
            Nothing of it is in the case. What was sent stays in the bucket until it is purged, and is not imported.
          </p>
          {discard.isError && <Failure error={discard.error} />}
          <div className="bar">
            <button type="button" className="primary" disabled={discard.isPending} onClick={() => discard.mutate(key)}>
              Give up this draft
            </button>
            <button type="button" onClick={() => setKey(null)}>
              Keep it
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
