import { ApiError } from "../api/client";
import { Untrusted } from "./Untrusted";

/** Why a request failed and what to do, with the id that an operator can look up. */
export function Failure({ error, again }: { error: unknown; again?: () => void }) {
  const known = error instanceof ApiError ? error : null;
  return (
    <div className="notice bad" role="alert">
      <strong>{known ? (known.problem.title ?? "The request failed") : "The server does not answer"}</strong>
      <p>{known?.message ?? "Check the connection, then try again. Nothing that you entered is lost."}</p>
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
