import { Failure } from "../../ui/Failure";
import { useRetry, type Chosen } from "./queries";

interface RetryProps {
  what: Chosen["what"];
  id: number;
  /** The words of the button, and what a screen reader adds to tell one from the others. */
  label: string;
  of?: string;
  onDone: (message: string) => void;
}

/** A button that retries one thing; what refuses it is said beside it. */
export function Retry({ what, id, label, of, onDone }: RetryProps) {
  const retry = useRetry(onDone);
  // A repetition of the same decision has the same key.
  const chosen = retry.isError ? retry.variables : undefined;
  return (
    <div className="retry">
      <button
        type="button"
        disabled={retry.isPending}
        onClick={() => retry.mutate(chosen ?? { what, id, key: crypto.randomUUID() })}
      >
        {retry.isPending ? "Retrying…" : label}
        {of && <span className="unseen"> {of}</span>}
      </button>
      {retry.isError && <Failure error={retry.error} />}
    </div>
  );
}
