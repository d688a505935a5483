import { keepPreviousData, useQuery } from "@tanstack/react-query";
import {
  useDeferredValue,
  useEffect,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactNode,
  type ToggleEvent,
} from "react";
import { Link, useLocation } from "wouter";
import { api, data } from "../api/client";
import { CaseState } from "./CaseState";
import { findPlace, pathIn, type Place } from "./places";
import { Untrusted } from "./Untrusted";

const MOST = 20;

/** The case that the page is about, and the way to the same page of another one: type to find it. */
export default function CaseSwitcher(): ReactNode {
  const [path] = useLocation();
  const place = findPlace(path);
  const present = useCase(place);
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  useEffect(() => box.current?.hidePopover(), [path]);
  const settle = () => {
    const { bottom, left } = button.current!.getBoundingClientRect();
    Object.assign(box.current!.style, {
      top: `${bottom + 2}px`,
      left: `${Math.max(Math.min(left, innerWidth - 376), 8)}px`,
    });
  };
  return (
    <>
      <button ref={button} type="button" className="switch" popoverTarget="cases" aria-expanded={isOpen}>
        <span className="unseen">Case: </span>
        <span className="name">{present ? <Untrusted text={present.name} /> : "Go to a case"}</span>
        <span aria-hidden="true"> ▾</span>
      </button>
      <div
        ref={box}
        id="cases"
        popover="auto"
        role="dialog"
        aria-label="Go to a case"
        className="switcher"
        onBeforeToggle={settle}
        // A field takes the focus only where it is seen.
        onToggle={({ newState }: ToggleEvent) => setOpen(newState === "open")}
        onKeyDown={moveFocus}
      >
        {isOpen && <Cases present={present} kind={place.kind} />}
      </div>
    </>
  );
}

function Cases({ present, kind }: { present: Case | undefined; kind: Place["kind"] }) {
  const [search, setSearch] = useState("");
  const words = useDeferredValue(search.trim());
  const found = useQuery({
    queryKey: ["cases-found", words],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const query = { limit: MOST, sort: "-lastImportAt", ...(words ? { search: words } : {}) } as const;
      return data(await api.GET("/cases", { params: { query }, signal }));
    },
  });
  return (
    <>
      <input
        type="search"
        aria-label="Name of the case"
        placeholder="Name of the case"
        autoFocus
        maxLength={255}
        value={search}
        onChange={(event) => setSearch(event.target.value)}
      />
      <ul>
        {found.data?.items.map((each) => (
          <li key={each.id}>
            <Link href={pathIn(each.id, kind)} aria-current={each.name === present?.name ? "true" : undefined}>
              <Untrusted text={each.name} /> <CaseState of={each} />
            </Link>
          </li>
        ))}
      </ul>
      <p className="quiet" role="status">
        {found.isPending && "Loading…"}
        {found.isError && "The cases could not be read. Close this and try again."}
        {found.data?.items.length === 0 && (words ? "No case has these words in its name." : "There are no cases yet.")}
        {found.data?.next && "There are more cases: type a part of the name."}
      </p>
    </>
  );
}

/** Arrow keys lead through the field and the cases below it; Enter in the field takes the first case. */
function moveFocus(event: KeyboardEvent<HTMLDivElement>) {
  const stops = [...event.currentTarget.querySelectorAll<HTMLElement>("input, a")];
  const at = stops.indexOf(event.target as HTMLElement);
  if (event.key === "Enter" && at === 0) return stops[1]?.click();
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  stops[Math.min(Math.max(at + step, 0), stops.length - 1)]?.focus();
}

interface Case {
  name: string;
}

/** The case of a page: the one in its address, or that of the object it is about. */
function useCase({ caseId, object }: Place): Case | undefined {
  const ofObject = useQuery({
    queryKey: ["case-of", object],
    enabled: object !== null,
    staleTime: Infinity,
    queryFn: ({ signal }) => readCase(object!, signal),
  });
  const found = useQuery({
    queryKey: ["case", caseId],
    enabled: caseId !== null,
    queryFn: async ({ signal }) =>
      data(await api.GET("/cases/{caseId}", { params: { path: { caseId: caseId! } }, signal })),
  });
  return caseId === null ? ofObject.data : found.data;
}

async function readCase({ type, id }: NonNullable<Place["object"]>, signal: AbortSignal): Promise<Case> {
  if (type === "production") {
    const params = { path: { productionId: id } };
    return { name: data(await api.GET("/productions/{productionId}", { params, signal })).case };
  }
  const found =
    type === "import"
      ? data(await api.GET("/imports/{importId}/progress", { params: { path: { importId: id } }, signal }))
      : data(await api.GET("/volumes/{volumeId}", { params: { path: { volumeId: id } }, signal }));
  return { name: found!.case };
}
