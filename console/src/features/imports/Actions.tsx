import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, type Schemas } from "../../api/client";
import { Dialog } from "../../ui/Dialog";
import { Failure } from "../../ui/Failure";

type Change = "cancel" | "retry";

/** What the user has chosen, with the key under which all attempts of it take effect once. */
interface Chosen {
  change: Change;
  key: string;
}

const EXPLAINED: Record<Change, string> = {
  cancel: "Rows that are already imported stay in the case; an undo takes them out. A retry goes on where it stopped.",
  retry: "The import goes on where it stopped. What is in the case already is not imported a second time.",
};

/** What the state of the import allows; each is explained before it happens. */
export function Actions({ state }: { state: Schemas["ImportState"] }) {
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: async ({ change: wish, key }: Chosen) => {
      const params = { params: { path: { importId: state.id }, header: { "Idempotency-Key": key } } };
      if (wish === "cancel") await api.POST("/imports/{importId}/cancel", params);
      else await api.POST("/imports/{importId}/retry", params);
    },
    onSuccess: () => setChosen(null),
    onSettled: () => queries.invalidateQueries({ queryKey: ["progress", state.id] }),
  });
  const allowed = (["cancel", "retry"] as const).filter((each) => state.actions.includes(each));
  if (allowed.length === 0) return null;
  return (
    <div className="bar">
      {allowed.map((each) => (
        <button key={each} type="button" onClick={() => setChosen({ change: each, key: crypto.randomUUID() })}>
          {each === "cancel" ? "Cancel the import" : "Retry"}
        </button>
      ))}
      {chosen && (
        <Dialog
          title={chosen.change === "cancel" ? "Cancel the import?" : "Retry the import?"}
          open
          onClose={() => setChosen(null)}
        >
          <p>{EXPLAINED[chosen.change]}</p>
          {change.isError && <Failure error={change.error} />}
          <div className="bar">
            <button type="button" className="primary" disabled={change.isPending} onClick={() => change.mutate(chosen)}>
              {chosen.change === "cancel" ? "Cancel the import" : "Retry"}
            </button>
            <button type="button" onClick={() => setChosen(null)}>
              Close
            </button>
          </div>
        </Dialog>
      )}
    </div>
  );
}
