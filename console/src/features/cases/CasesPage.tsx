import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { Link, useLocation } from "wouter";
import { api, data, type Schemas } from "../../api/client";
import { useCanImport } from "../../api/me";
import { CaseState } from "../../ui/CaseState";
import { useDropTarget } from "../../ui/DropTarget";
import { Failure } from "../../ui/Failure";
import { OpenRows } from "../../ui/OpenRows";
import { More } from "../../ui/More";
import { Skeleton } from "../../ui/Skeleton";
import { useTitle } from "../../ui/title";
import { Untrusted } from "../../ui/Untrusted";
import { Count, Time } from "../../ui/values";
import { collectDrop, handOver } from "../../upload";

const PAGE = 100;

export function CasesPage() {
  useTitle("Cases");
  const [search, setSearch] = useState("");
  const words = useDeferredValue(search.trim());
  const cases = useCases(words);
  const shown = cases.data?.pages.flatMap((page) => page.items) ?? [];
  const canImport = useCanImport();
  const [, navigate] = useLocation();
  const [fault, setFault] = useState<unknown>(null);
  const take = (data: DataTransfer) =>
    void collectDrop(data).then((picked) => {
      handOver({ picked });
      navigate("/import");
    }, setFault);
  const isOver = useDropTarget(canImport ? take : null);
  return (
    <section className={isOver ? "page over" : "page"}>
      <div className="bar">
        <h1>Cases</h1>
        <input
          type="search"
          aria-label="Find a case"
          placeholder="Find a case"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
        {canImport && (
          <Link href="/import" className="button primary end">
            Import files
          </Link>
        )}
      </div>
      {fault !== null && <Failure error={fault} />}
      {cases.isPending && <Skeleton rows={6} />}
      {cases.isError && <Failure error={cases.error} again={() => void cases.refetch()} />}
      {cases.data && shown.length === 0 && <NoCases search={words} canImport={canImport ?? false} />}
      {shown.length > 0 && (
        <div className="scroll" tabIndex={0} role="region" aria-label="List of cases">
          <CasesTable cases={shown} />
        </div>
      )}
      <More pages={cases} what="cases" />
      {canImport && shown.length > 0 && (
        <p className="quiet">Drop a folder, a zip or a load file anywhere on this page to import it.</p>
      )}
      {canImport === false && (
        <p className="quiet">Your role is viewer: you can read the cases. An editor can import files.</p>
      )}
    </section>
  );
}

function useCases(search: string) {
  return useInfiniteQuery({
    queryKey: ["cases", search],
    initialPageParam: undefined as string | undefined,
    placeholderData: keepPreviousData,
    queryFn: async ({ pageParam, signal }) => {
      const query = { limit: PAGE, sort: "-lastImportAt", after: pageParam, ...(search ? { search } : {}) } as const;
      return data(await api.GET("/cases", { params: { query }, signal }));
    },
    getNextPageParam: (page) => page.next ?? undefined,
  });
}

function NoCases({ search, canImport }: { search: string; canImport: boolean }) {
  if (search) return <p className="quiet">No case has “{search}” in its name.</p>;
  return (
    <div className="empty drop-here">
      <h2>There are no cases yet</h2>
      {canImport ? (
        <>
          <p>Drop a folder, a zip or a load file anywhere on this page. The first import creates a case.</p>
          <p>You see how the files are read and what would be imported before anything is written.</p>
        </>
      ) : (
        <p>The first import creates one; an editor or an administrator can import files.</p>
      )}
    </div>
  );
}

function CasesTable({ cases }: { cases: Schemas["CaseSummary"][] }) {
  return (
    <table className="list">
      <thead>
        <tr>
          <th scope="col">Case</th>
          <th scope="col" className="num">
            Documents
          </th>
          <th scope="col" className="num">
            Open rejections
          </th>
          <th scope="col" className="num">
            Imports
          </th>
          <th scope="col">Last import</th>
        </tr>
      </thead>
      <tbody>
        {cases.map((each) => (
          <tr key={each.id}>
            <th scope="row" className="name">
              <Link href={`/cases/${each.id}/imports`}>
                <Untrusted text={each.name} />
              </Link>{" "}
              <CaseState of={each} />
            </th>
            <td className="num">
              <Link href={`/cases/${each.id}/documents`}>
                <Count value={each.documents} />
              </Link>
            </td>
            <td className="num">
              <OpenRows value={each.openRejections} />
            </td>
            <td className="num">
              <Count value={each.imports} />
            </td>
            <td>
              <Time value={each.lastImportAt} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
