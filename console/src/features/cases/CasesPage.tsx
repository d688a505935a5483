import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { Link } from "wouter";
import { api, data, type Schemas } from "../../api/client";
import { Failure } from "../../ui/Failure";
import { OpenRows } from "../../ui/OpenRows";
import { Skeleton } from "../../ui/Skeleton";
import { Untrusted } from "../../ui/Untrusted";
import { Count, Time } from "../../ui/values";

const PAGE = 100;

export function CasesPage() {
  const [search, setSearch] = useState("");
  const words = useDeferredValue(search.trim());
  const cases = useCases(words);
  const shown = cases.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <section className="page">
      <div className="bar">
        <h1>Cases</h1>
        <input
          type="search"
          aria-label="Find a case"
          placeholder="Find a case"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
      </div>
      {cases.isPending && <Skeleton rows={6} />}
      {cases.isError && <Failure error={cases.error} again={() => void cases.refetch()} />}
      {cases.isSuccess && shown.length === 0 && <NoCases search={words} />}
      {shown.length > 0 && <CasesTable cases={shown} />}
      {cases.hasNextPage && (
        <button type="button" disabled={cases.isFetchingNextPage} onClick={() => void cases.fetchNextPage()}>
          {cases.isFetchingNextPage ? "Loading…" : "Show more cases"}
        </button>
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

function NoCases({ search }: { search: string }) {
  if (search) return <p className="quiet">No case has “{search}” in its name.</p>;
  return (
    <div className="empty">
      <h2>There are no cases yet</h2>
      <p>The first import creates one.</p>
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
            <th scope="row">
              <Link href={`/cases/${each.id}/imports`}>
                <Untrusted text={each.name} />
              </Link>
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
