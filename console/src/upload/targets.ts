// The routes of the API that uploads need.
import { api, data } from "../api/client";
import type { FolderTarget, Target, UploadUrls } from "./types";

/** The file of an import; `urls` are those of its announcement, null when an upload is continued. */
export const importTarget = (importId: number, urls: UploadUrls | null): Target => ({
  urls,
  getState: async () => data(await api.GET("/imports/{importId}/upload", { params: { path: { importId } } })),
});

/** The zip of a volume. */
export const archiveTarget = (volumeId: number, urls: UploadUrls | null): Target => ({
  urls,
  getState: async () => data(await api.GET("/volumes/{volumeId}/upload", { params: { path: { volumeId } } })),
});

/** The files of a volume. */
export const folderTarget = (volumeId: number): FolderTarget => ({
  declare: async (files, key) =>
    data(
      await api.POST("/volumes/{volumeId}/files", {
        params: { path: { volumeId }, header: { "Idempotency-Key": key } },
        body: files,
      }),
    ),
  getState: async (path) =>
    data(await api.GET("/volumes/{volumeId}/upload", { params: { path: { volumeId }, query: { path } } })),
});
