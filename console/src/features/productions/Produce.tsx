import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useLocation } from "wouter";
import { useRefusal } from "../../api/cases";
import { api, ApiError, data, type Schemas } from "../../api/client";
import { repeat } from "../../api/repeat";
import { Failure } from "../../ui/Failure";
import { announce } from "../../ui/LiveRegion";
import { bindNumbers, labelProduce, writeDraft, type Draft } from "./draft";
import { Findings } from "./Findings";
import type { Checked } from "./useCheck";

interface ProduceProps {
  caseId: number;
  draft: Draft;
  checked: Checked;
  isCurrent: boolean;
  canProduce: boolean | undefined;
}

/** What the user has decided, with the key under which all attempts of it take effect once. */
interface Decided {
  body: Schemas["NewProduction"];
  firstBates: string | null;
  key: string;
}

/** The button that says what it does; the numbers that it names are used, or none. */
export function Produce({ caseId, draft, checked, isCurrent, canProduce }: ProduceProps) {
  const [, navigate] = useLocation();
  const produce = useProduce(caseId);
  const refusal = useRefusal(caseId);
  const { check, body } = checked;
  const isBlocked = check.findings.some((each) => each.blocks) || (check.lastBates ?? check.expectedLastBates) === null;
  if (canProduce === undefined) return null;
  if (!canProduce)
    return (
      <p className="quiet">You can check a draft. Producing requires the role editor; an administrator grants it.</p>
    );
  if (refusal) return <p className="quiet">You can check a draft. {refusal}</p>;
  const send = (decided: Decided) =>
    produce.mutate(decided, {
      // Not if the user has left the page meanwhile.
      onSuccess: ({ id }) => navigate(`/productions/${id}`, { state: { draft: writeDraft(draft) } }),
    });
  const decide = () => send({ body: bindNumbers(body, check), firstBates: check.firstBates, key: crypto.randomUUID() });
  return (
    <>
      {isBlocked && <p>Correct what is refused above; then these documents can be produced.</p>}
      <button
        type="button"
        className="primary produce"
        disabled={!isCurrent || isBlocked || produce.isPending}
        onClick={decide}
      >
        {produce.isPending ? "Requesting…" : labelProduce(check)}
      </button>
      {produce.isError && (
        <Refused
          caseId={caseId}
          error={produce.error}
          decided={produce.variables}
          checked={isCurrent ? checked : null}
          again={() => send(produce.variables)}
        />
      )}
    </>
  );
}

function useProduce(caseId: number) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ body, key }: Decided) =>
      repeat(async () => {
        const params = { header: { "Idempotency-Key": key } };
        return data(await api.POST("/productions", { params, body })) as Schemas["Production"];
      }),
    onSuccess: ({ id }) => {
      void queries.invalidateQueries({ queryKey: ["productions", caseId] });
      announce(`Production ${id} is requested.`);
    },
    // What was refused was refused for what has changed since it was read.
    onError: (error) => {
      if (!(error instanceof ApiError) || error.status === 403) return;
      for (const name of ["bates-prefixes", "next-volume", "production-check"])
        void queries.invalidateQueries({ queryKey: [name] });
    },
  });
}

interface RefusedProps {
  caseId: number;
  error: Error;
  decided: Decided;
  /** The check as it is now; null while it is renewed. */
  checked: Checked | null;
  again: () => void;
}

function Refused({ caseId, error, decided, checked, again }: RefusedProps) {
  const code = error instanceof ApiError ? error.code : "";
  if (code === "wrong-state" || code === "sequence-exhausted") return <Taken {...{ error, decided, checked }} />;
  const findings = error instanceof ApiError ? (error.problem.findings ?? []) : [];
  return (
    <>
      <Failure error={error} again={again} isByHand />
      {findings.length > 0 && <Findings caseId={caseId} findings={findings} />}
    </>
  );
}

/** The numbers that were shown are not free any more: nothing was produced, and the check shows what is free now. */
function Taken({ error, decided, checked }: Pick<RefusedProps, "error" | "decided" | "checked">) {
  const now = checked?.check.firstBates ?? null;
  return (
    <div className="notice bad" role="alert">
      <strong>Nothing was produced</strong>
      {now !== null && now === decided.firstBates ? (
        <p>{error.message}</p>
      ) : (
        <p>
          Another production has taken <span className="mono">{decided.firstBates}</span> since the check was made.{" "}
          {now === null ? (
            "The check is being renewed."
          ) : (
            <>
              Now the first free number is <span className="mono">{now}</span>: look at the new numbers, then press the
              button again.
            </>
          )}
        </p>
      )}
    </div>
  );
}
