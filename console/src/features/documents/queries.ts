import { useQuery } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../api/client";
import { isCounted, toQuery, type Filters } from "../../api/documentFilters";

/** How many documents match, beside the list, which does not wait for it. */
export function useTotal(caseId: number, filters: Filters) {
  const { from: _place, ...counted } = filters;
  return useQuery({
    queryKey: ["documents-total", caseId, counted],
    enabled: isCounted(filters),
    queryFn: async ({ signal }) => {
      const query = { caseId, limit: 1, count: true, ...toQuery(counted) };
      return data(await api.GET("/exhibits", { params: { query }, signal }));
    },
  });
}

export function useDocument(exhibitId: number, isEnabled = true) {
  return useQuery({
    queryKey: ["document", exhibitId],
    enabled: isEnabled,
    queryFn: async ({ signal }) =>
      data(await api.GET("/exhibits/{exhibitId}", { params: { path: { exhibitId } }, signal })) as Schemas["Exhibit"],
  });
}
