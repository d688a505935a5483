// The requests of the wizard. Each POST has the key that the user's decision made.
import { api, data, type Schemas } from "../../api/client";
import { repeat } from "../../api/repeat";
import type { Options } from "./kept";

type Details = Schemas["ImportDetails"];
type Key = string;

const withKey = (key: Key) => ({ header: { "Idempotency-Key": key } });
const withVersion = (key: Key, version: number) => ({ header: { "Idempotency-Key": key, "If-Match": `"${version}"` } });

export interface NewFile {
  caseName: string;
  fileName: string;
  size: number;
  options: Options;
  profile: string | null;
}

/** Announce a load file, which is held when it has arrived. */
export async function announceImport(file: NewFile, key: Key): Promise<Schemas["ImportUpload"]> {
  const { caseName, fileName, size, options, profile } = file;
  const body = { case: caseName, createCase: false, fileName, size, inParts: true, hold: true, options, profile };
  return data(await repeat(() => api.POST("/imports", { params: withKey(key), body }))) as Schemas["ImportUpload"];
}

/** Create a volume: of files, or with `archive` of one zip. */
export async function createVolume(
  caseName: string,
  name: string,
  archive: { fileName: string; size: number } | null,
  key: Key,
): Promise<Schemas["CreatedVolume"]> {
  const body = { case: caseName, createCase: false, name, archive: archive && { ...archive, inParts: true } };
  return data(await repeat(() => api.POST("/volumes", { params: withKey(key), body }))) as Schemas["CreatedVolume"];
}

export async function readVolume(volumeId: number): Promise<Schemas["VolumeDetails"]> {
  const read = () => api.GET("/volumes/{volumeId}", { params: { path: { volumeId } } });
  return data(await repeat(read)) as Schemas["VolumeDetails"];
}

export interface Seal {
  loadFile: string | null;
  imageLoadFile: string | null;
  options: Options;
  profile: string | null;
}

/** Say that everything was sent; the imports of the volume are held. */
export async function sealVolume(volumeId: number, seal: Seal, key: Key): Promise<Schemas["VolumeDetails"]> {
  const { volume: _volume, ...options } = seal.options;
  const params = { path: { volumeId }, ...withKey(key) };
  const body = { ...seal, options, hold: true };
  return data(await repeat(() => api.POST("/volumes/{volumeId}/import", { params, body }))) as Schemas["VolumeDetails"];
}

export async function putOptions(importId: number, options: Options, profile: string | null, version: number) {
  const params = { path: { importId }, ...withVersion(crypto.randomUUID(), version) };
  const state = data(
    await repeat(() => api.PUT("/imports/{importId}/options", { params, body: { options, profile } })),
  );
  return (state as Schemas["ImportState"]).optionsVersion;
}

export async function checkImport(importId: number, version: number, key: Key): Promise<void> {
  const params = { path: { importId }, ...withVersion(key, version) };
  await repeat(() => api.POST("/imports/{importId}/check", { params }));
}

/** Import what was checked, with everything that the user has read and accepted. */
export async function run(rows: Details, volumeId: number | null, accepts: Schemas["RunRequest"], key: Key) {
  const version = withVersion(key, rows.optionsVersion);
  if (volumeId !== null)
    await repeat(() =>
      api.POST("/volumes/{volumeId}/run", { params: { path: { volumeId }, ...version }, body: accepts }),
    );
  else
    await repeat(() =>
      api.POST("/imports/{importId}/run", { params: { path: { importId: rows.id }, ...version }, body: accepts }),
    );
}

export async function cancelImport(importId: number, key: Key): Promise<void> {
  await repeat(() => api.POST("/imports/{importId}/cancel", { params: { path: { importId }, ...withKey(key) } }));
}

export async function retryImport(importId: number, key: Key): Promise<void> {
  await repeat(() => api.POST("/imports/{importId}/retry", { params: { path: { importId }, ...withKey(key) } }));
}

export async function announcePreview(caseName: string, file: File, key: Key): Promise<Schemas["PreviewUpload"]> {
  const body = { case: caseName, fileName: file.name, size: file.size };
  return data(await repeat(() => api.POST("/previews", { params: withKey(key), body }))) as Schemas["PreviewUpload"];
}

export async function createCase(name: string, key: Key): Promise<void> {
  await repeat(() => api.POST("/cases", { params: withKey(key), body: { name } }));
}

export async function saveProfile(body: Schemas["NewProfile"], key: Key): Promise<Schemas["Profile"]> {
  return data(await repeat(() => api.POST("/profiles", { params: withKey(key), body }))) as Schemas["Profile"];
}
