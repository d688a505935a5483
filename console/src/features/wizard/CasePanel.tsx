import { useMutation } from "@tanstack/react-query";
import { useDeferredValue, useEffect, useId, useMemo, useRef, useState, type FormEvent } from "react";
import type { Schemas } from "../../api/client";
import { useMe } from "../../api/me";
import { Failure } from "../../ui/Failure";
import { Untrusted } from "../../ui/Untrusted";
import { Panel } from "./Panel";
import { useCases, useSimilarCases, type Draft } from "./queries";
import { createCase } from "./requests";
import { count } from "../../ui/values";

interface CasePanelProps {
  draft: Draft | null;
  /** The case that is chosen already, while the draft is being announced or its files are missing. */
  caseName: string | null;
  /** Whether the case is the next thing to choose, so that the focus goes there. */
  isNext: boolean;
  onCase: (name: string) => void;
  /** Absent while the draft is being announced, which cannot be taken back until it has a place. */
  onChange?: () => void;
}

/** The case that the files are for: an existing one by a name like it, or a new one that is created by its button. */
export function CasePanel({ draft, caseName, isNext, onCase, onChange }: CasePanelProps) {
  const name = draft?.case ?? caseName;
  const known = useSimilarCases(name ?? "");
  const documents = known.data?.exact?.name === name ? known.data?.exact?.documents : undefined;
  return (
    <Panel
      number={2}
      title="Case"
      isOpen={name === null}
      onToggle={name === null ? undefined : onChange}
      line={
        name === null ? (
          <span className="quiet">not chosen yet</span>
        ) : (
          <span>
            <Untrusted text={name} />
            {documents !== undefined && <span className="quiet"> ({count(documents, "document")})</span>}
          </span>
        )
      }
    >
      <ChooseCase isNext={isNext} onCase={onCase} />
    </Panel>
  );
}

const MAX_NAME = 255;

function ChooseCase({ isNext, onCase }: Pick<CasePanelProps, "isNext" | "onCase">) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (isNext) input.current?.focus();
  }, [isNext]);
  const [entered, setEntered] = useState("");
  const name = useDeferredValue(entered.trim());
  const id = useId();
  const cases = useCases(name, true);
  const similar = useSimilarCases(name);
  // Of the name as it is now: a new case is offered only beside those that it may be confused with.
  const isSought = similar.isSuccess && !similar.isPlaceholderData;
  const isLimited = useMe().data?.cases != null;
  const exact = name && similar.data?.exact?.name === name ? similar.data.exact : null;
  const key = useMemo(() => crypto.randomUUID(), [name]);
  const create = useMutation({
    mutationFn: (created: string) => createCase(created, key),
    onSuccess: (_, created) => onCase(created),
  });
  const offers = useRef<HTMLUListElement>(null);
  // Enter goes on as soon as it is known whether there are cases that the name may be confused with.
  const [wish, setWish] = useState<string | null>(null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setWish(entered.trim());
  };
  useEffect(() => {
    if (!wish || wish !== name || !isSought || cases.isPlaceholderData || create.isPending) return;
    setWish(null);
    if (exact) onCase(exact.name);
    else if (others.length) offers.current?.querySelector("button")?.focus();
    else if (!isLimited) create.mutate(name);
  });
  const others = unite(exact, name ? (similar.data?.similar ?? []) : [], cases.data ?? []);
  return (
    <form className="stack" onSubmit={submit}>
      <label htmlFor={id}>Name of the case</label>
      <span className="quiet" id={`${id}-hint`}>
        Type a few words of it and choose the case, or create a new one.
      </span>
      <input
        ref={input}
        id={id}
        aria-describedby={`${id}-hint`}
        type="text"
        className="wide"
        autoComplete="off"
        maxLength={MAX_NAME}
        value={entered}
        onChange={(event) => {
          setEntered(event.target.value);
          setWish(null);
        }}
      />
      {cases.isError && <Failure error={cases.error} again={() => void cases.refetch()} />}
      {others.length > 0 && (
        <ul ref={offers} className="plain offers" aria-label={name ? "Cases with this or a similar name" : "Cases"}>
          {others.map((each) => (
            <li key={each.id}>
              <button
                type="button"
                className={each === exact ? "primary" : undefined}
                onClick={() => onCase(each.name)}
              >
                Use <Untrusted text={each.name} />
              </button>{" "}
              <span className="quiet">
                {each === exact || !name ? "has" : "similar: has"} {count(each.documents, "document")}
              </span>
            </li>
          ))}
        </ul>
      )}
      {name && !exact && isSought && !isLimited && (
        <div>
          <button
            type="button"
            className={others.length ? undefined : "primary"}
            disabled={create.isPending}
            onClick={() => create.mutate(name)}
          >
            Create the case <Untrusted text={name} />
          </button>{" "}
          {others.length > 0 && <span className="quiet">Only if it is none of these.</span>}
        </div>
      )}
      {name && !exact && isLimited && others.length === 0 && isSought && (
        <p>You have no case with this name, and your account cannot create cases. Ask your administrator.</p>
      )}
      {create.isError && <Failure error={create.error} />}
    </form>
  );
}

/** The case with the name first, then similar ones, then those that have the words; none twice, and 8 at most. */
function unite(exact: Schemas["CaseSummary"] | null, ...lists: Schemas["CaseSummary"][][]): Schemas["CaseSummary"][] {
  const found = exact ? [exact] : [];
  for (const each of lists.flat()) if (!found.some(({ id }) => id === each.id)) found.push(each);
  return found.slice(0, 8);
}
