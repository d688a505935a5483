import { ApiError } from "../api/client";
import { describeFault, TITLES, toWords } from "./messages";
import { Untrusted } from "./Untrusted";

const LOST = "The server does not answer";
// The same request is refused again: what has to change is elsewhere.
const LASTING = new Set([400, 403]);

interface FailureProps {
  error: unknown;
  again?: () => void;
  /** Whether `again` changes something, so that it is never done by itself. */
  isByHand?: boolean;
}

/** Why a request failed and what to do, with the id that an operator can look up. */
export function Failure({ error, again, isByHand }: FailureProps) {
  const known = error instanceof ApiError ? error : null;
  // Browsers throw a TypeError where there is no answer; every other error was made on this page.
  const own = error instanceof Error && !(error instanceof TypeError) ? error : null;
  const faults = known?.problem.errors ?? [];
  return (
    <div className="notice bad" role="alert">
      <strong>{known ? nameProblem(known) : own ? "This cannot be done" : LOST}</strong>
      {!own && (
        <p>
          Check the connection{again && isByHand ? ", then try again" : ""}.{" "}
          {again && !isByHand && "The page tries again by itself. "}Nothing that you entered is lost.
        </p>
      )}
      {own && faults.length === 0 && (
        <p>
          <Untrusted text={explain(own)} />
        </p>
      )}
      {faults.map((each) => (
        <p key={`${each.location} ${each.message}`}>
          <Untrusted text={describeFault(each)} />
        </p>
      ))}
      {known?.requestId && <p className="quiet">Request {known.requestId}</p>}
      {again && !isLasting(known, isByHand) && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

const isLasting = (error: ApiError | null, isByHand: boolean | undefined) =>
  error !== null && (LASTING.has(error.status) || (error.status === 404 && !isByHand));

const nameProblem = ({ code, problem }: ApiError) => TITLES[code] ?? problem.title ?? "The request failed";

function explain(error: Error): string {
  if (error instanceof ApiError && error.code === "stale-version")
    return "Another window or user has changed it since this page read it. Try again to go on with what is there now.";
  return toWords(error.message);
}
