import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api, ApiError, data, type Schemas } from "../../api/client";
import type { Draft } from "./draft";

type NewProduction = Schemas["NewProduction"];

const QUIET_MS = 400;

export interface Checked {
  body: NewProduction;
  check: Schemas["ProductionCheck"];
}

/** What the draft would be now; a check that is not needed any more is cancelled. Nothing is reserved. */
export function useCheck(body: NewProduction | null, { numbering, slipSheets }: Draft) {
  const wish = useQuiet(JSON.stringify(body && { body, numbering, slipSheets }));
  const query = useQuery({
    queryKey: ["production-check", wish],
    enabled: wish !== "null",
    // Others take numbers: what was read before is not what is there now.
    staleTime: 0,
    gcTime: 0,
    retry: (failed, error) => failed < 2 && !(error instanceof ApiError && error.status < 500 && error.status !== 429),
    queryFn: ({ signal }) => check(JSON.parse(wish) as Wish, signal),
  });
  const isCurrent = wish === JSON.stringify(body && { body, numbering, slipSheets });
  return { query, isCurrent: isCurrent && body !== null && !query.isFetching };
}

interface Wish {
  body: NewProduction;
  numbering: Draft["numbering"];
  slipSheets: boolean;
}

/** Check the draft; pages are numbered where documents have pages, unless the draft says how. */
async function check({ body, numbering, slipSheets }: Wish, signal: AbortSignal): Promise<Checked> {
  const send = async (sent: NewProduction): Promise<Checked> => {
    const result = await api.POST("/productions/check", { body: sent, signal });
    return { body: sent, check: data(result) as Schemas["ProductionCheck"] };
  };
  const byDocument: NewProduction = { ...body, numbering: "document" };
  if (numbering === "document") return send(byDocument);
  const byPage: NewProduction = { ...body, numbering: "page", ...(slipSheets && { slipSheets }) };
  if (numbering === "page" || slipSheets) return send(byPage);
  const first = await send(byDocument);
  return first.check.withPages ? send(byPage) : first;
}

/** The newest text, once it has not changed for a moment. */
function useQuiet(text: string): string {
  const [quiet, setQuiet] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setQuiet(text), QUIET_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return quiet;
}
