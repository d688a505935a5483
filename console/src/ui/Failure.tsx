import { ApiError } from "../api/client";
import { Untrusted } from "./Untrusted";

const LOST = "The server does not answer";

/** Why a request failed and what to do, with the id that an operator can look up. */
export function Failure({ error, again }: { error: unknown; again?: () => void }) {
  const known = error instanceof ApiError ? error : null;
  // Browsers throw a TypeError where there is no answer; every other error was made on this page.
  const own = error instanceof Error && !(error instanceof TypeError) ? error : null;
  const title = known ? (known.problem.title ?? "The request failed") : own ? "This cannot be done" : LOST;
  return (
    <div className="notice bad" role="alert">
      <strong>{title}</strong>
      <p>
        {own ? (
          <Untrusted text={own.message} />
        ) : (
          "Check the connection, then try again. Nothing that you entered is lost."
        )}
      </p>
      {known?.problem.errors?.map((each) => (
        <p key={`${each.location} ${each.message}`}>
          <Untrusted text={`${each.location}: ${each.message}`} />
        </p>
      ))}
      {known?.requestId && <p className="quiet">Request {known.requestId}</p>}
      {again && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}
