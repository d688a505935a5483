// The state of a draft on the server, and the lists that the panels show.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { ApiError, api, data, type Schemas } from "../../api/client";
import { isRunning } from "../../ui/Status";
import type { Kept, Options } from "./kept";
import { toQuery } from "./options";

type Details = Schemas["ImportDetails"];
type Volume = Schemas["VolumeDetails"];

/** A draft as the server has it. `rows` is the import of the data file: of a volume, null until it is listed. */
export interface Draft {
  place: string;
  case: string;
  caseId: number;
  name: string;
  rows: Details | null;
  images: Details[];
  /** How many imports of image load files there are; `images` has those that were read. */
  imageCount: number;
  volume: Volume | null;
}

const BUSY_MS = 1_000;
const IDLE_MS = 3_000;

/** How long to wait until the state is read again; false where only the user can change it. */
export function nextRead(
  status: Schemas["ImportStatus"] | undefined,
  wanted: Schemas["Wish"] | undefined,
): number | false {
  if (status === undefined || isRunning(status)) return BUSY_MS;
  if (status === "awaiting_upload") return IDLE_MS;
  return status === "uploaded" && wanted !== "hold" ? BUSY_MS : false;
}

export function useImport(importId: number | null) {
  return useQuery({
    queryKey: ["draft-import", importId],
    enabled: importId !== null,
    staleTime: 0,
    queryFn: async ({ signal }) =>
      data(await api.GET("/imports/{importId}", { params: { path: { importId: importId! } }, signal })) as Details,
    refetchInterval: (query) => nextRead(query.state.data?.status, query.state.data?.wanted),
  });
}

const LISTING: Schemas["VolumeStatus"][] = ["sealed", "expanding", "hashing"];
export const isListing = (status: Schemas["VolumeStatus"] | undefined) =>
  status !== undefined && LISTING.includes(status);

export function useVolume(volumeId: number) {
  return useQuery({
    queryKey: ["draft-volume", volumeId],
    staleTime: 0,
    queryFn: async ({ signal }) =>
      data(await api.GET("/volumes/{volumeId}", { params: { path: { volumeId } }, signal })) as Volume,
    refetchInterval: (query) => (isListing(query.state.data?.status) ? BUSY_MS : false),
  });
}

/** The imports of a volume's image load files, read again while the data file or one of them is at work. */
export function useImages(ids: number[], isBusy: boolean) {
  return useQuery({
    queryKey: ["draft-images", ids],
    enabled: ids.length > 0,
    staleTime: 0,
    queryFn: async ({ signal }) => {
      const read = (importId: number) => api.GET("/imports/{importId}", { params: { path: { importId } }, signal });
      return (await Promise.all(ids.map(read))).map((each) => data(each) as Details);
    },
    refetchInterval: (query) => (isBusy || query.state.data?.some((each) => isRunning(each.status)) ? BUSY_MS : false),
  });
}

/**
 * The imports that a volume has now: the newest data file that is not cancelled, and the images that were listed with it,
 * also those that are cancelled: their pages would be missing.
 */
export function chooseImports(volume: Volume): { rows: number | null; images: number[] } {
  const newest = (imports: Volume["imports"]) => Math.max(0, ...imports.map((each) => each.id));
  const data = volume.imports.filter((each) => each.kind === "rows");
  const rows = newest(data.filter((each) => each.status !== "cancelled")) || newest(data);
  const images = volume.imports.filter((each) => each.kind === "images").map((each) => each.id);
  return {
    rows: rows || (Math.min(...images, Infinity) < Infinity ? Math.min(...images) : null),
    images: images.filter((id) => id > rows && rows > 0),
  };
}

const PREVIEWED: Schemas["ImportStatus"][] = ["awaiting_upload", "cancelled"];

/** How the file is read with these options: from its beginning while the upload goes on, else from the bucket. */
export function usePreview(draft: Draft | null, kept: Kept, options: Options, profile: string | null) {
  const early = kept.preview?.id ?? null;
  const rows = draft?.rows && !PREVIEWED.includes(draft.rows.status) ? draft.rows : null;
  const query = toQuery(options, profile);
  return useQuery({
    queryKey: ["wizard-preview", early ?? rows?.id, early ? 0 : rows?.optionsVersion, query],
    enabled: early !== null || rows !== null,
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    retry: (failures, error) => failures < 3 && (!(error instanceof ApiError) || error.status >= 500),
    queryFn: async ({ signal }) => {
      if (early !== null) {
        const params = { path: { previewId: early }, query: query as object };
        return data(await api.GET("/previews/{previewId}", { params, signal })) as Schemas["ImportPreview"];
      }
      const params = { path: { importId: rows!.id }, query: query as object };
      return data(await api.GET("/imports/{importId}/preview", { params, signal })) as Schemas["ImportPreview"];
    },
  });
}

export function useCases(search: string, isOn: boolean) {
  return useQuery({
    queryKey: ["wizard-cases", search],
    enabled: isOn,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const query = { limit: 8, sort: "-lastImportAt", ...(search ? { search } : {}) } as const;
      return (data(await api.GET("/cases", { params: { query }, signal })) as Schemas["CasePage"]).items;
    },
  });
}

export function useSimilarCases(name: string) {
  return useQuery({
    queryKey: ["wizard-similar", name],
    enabled: name !== "",
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) =>
      data(await api.GET("/cases/similar", { params: { query: { name } }, signal })) as Schemas["SimilarCases"],
  });
}

export function useFindings(importId: number, code: string, isOn: boolean) {
  return useQuery({
    queryKey: ["wizard-findings", importId, code],
    enabled: isOn,
    queryFn: async ({ signal }) => {
      const params = { path: { importId }, query: { code, limit: 100 } };
      return data(await api.GET("/imports/{importId}/findings", { params, signal })) as Schemas["FindingPage"];
    },
  });
}
