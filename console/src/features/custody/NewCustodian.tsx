import { useDeferredValue, useId, useState } from "react";
import { api, data, type Schemas } from "../../api/client";
import { Failure } from "../../ui/Failure";
import { announce } from "../../ui/LiveRegion";
import { Untrusted } from "../../ui/Untrusted";
import type { Choice } from "./drafts";
import { useCaseNames, useDecision } from "./queries";

interface NewCustodianProps {
  name: string;
  /** Whether no custodian has the words, so that this is the next step. */
  isOnly: boolean;
  onMade: (choice: Choice) => void;
}

/** A custodian that no case has yet: a custodian belongs to a case, so one is chosen. */
export function NewCustodian({ name, isOnly, onMade }: NewCustodianProps) {
  const id = useId();
  const [typed, setTyped] = useState("");
  const names = useCaseNames(useDeferredValue(typed.trim()));
  const add = useDecision(async (wish: Schemas["NewCustodian"], key: string) =>
    data(await api.POST("/custodians", { params: { header: { "Idempotency-Key": key } }, body: wish })),
  );
  // The API would create a case of another name.
  const chosen = names.data?.find((each) => each === typed.trim());
  const submit = () =>
    add.mutate(
      { case: chosen!, name },
      {
        onSuccess: (made) => {
          announce("The custodian was added and is chosen.");
          onMade({ id: made.id, name: made.name, case: chosen });
        },
      },
    );
  if (add.isSuccess) return null;
  return (
    <details className="new-custodian" open={isOnly}>
      <summary>
        {isOnly ? "No custodian has these words: add" : "Not in the list: add"} “<Untrusted text={name} />” to a case
      </summary>
      <label htmlFor={id}>Case</label>
      <input
        id={id}
        list={`${id}-cases`}
        value={typed}
        autoComplete="off"
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => event.key === "Enter" && event.preventDefault()}
      />
      <datalist id={`${id}-cases`}>
        {names.data?.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      <button type="button" disabled={chosen === undefined || add.isPending} onClick={submit}>
        Add the custodian
      </button>
      {typed.trim() !== "" && names.isSuccess && chosen === undefined && (
        <p className="quiet">Choose a case from the list. Cases are not created here.</p>
      )}
      {add.isError && <Failure error={add.error} again={submit} isByHand />}
    </details>
  );
}
