// The requests that save a draft, one after the other: the fields against their version, then each list of names.
import { api, data } from "../../../api/client";
import { buildPatch, type Draft, type ListName } from "./draft";
import type { Exhibit, Patch } from "./fields";

export type Step =
  { do: "change"; version: number; body: Patch } | { do: "add" | "remove"; list: ListName; names: readonly string[] };

/** The most names of one request. */
const MOST_NAMES = 50;

/** Return the next request of a draft; null if everything is saved. */
export function nextStep(draft: Draft): Step | null {
  const body = buildPatch(draft);
  if (body) return { do: "change", version: draft.base.version, body };
  for (const list of ["custodians", "tags"] as const)
    for (const action of ["add", "remove"] as const) {
      const names = draft[list][action === "add" ? "added" : "removed"];
      if (names.length) return { do: action, list, names: names.slice(0, MOST_NAMES) };
    }
  return null;
}

/** Return the draft after a request has taken effect; `answer` is the document that a change of fields returned. */
export function settle(draft: Draft, step: Step, answer: Exhibit | null): Draft {
  if (step.do === "change") return { ...draft, base: answer ?? draft.base, texts: new Map() };
  const member = step.do === "add" ? "added" : "removed";
  const names = draft[step.list];
  const left = { ...names, [member]: names[member].filter((name) => !step.names.includes(name)) };
  const stored = draft.base[step.list].filter((name) => !step.names.includes(name));
  const base = { ...draft.base, [step.list]: step.do === "add" ? [...stored, ...step.names] : stored };
  return { ...draft, base, [step.list]: left };
}

/**
 * Return the key of a request. The same request, sent again because its answer is not known, has the same key and takes
 * effect once; once its answer is known, `keys` forgets it.
 */
export function keyOf(keys: Map<string, string>, step: Step): string {
  const name = JSON.stringify(step);
  const key = keys.get(name) ?? crypto.randomUUID();
  keys.set(name, key);
  return key;
}

export const forgetKey = (keys: Map<string, string>, step: Step): boolean => keys.delete(JSON.stringify(step));

/** Send a request; returns the changed document of a change of fields, otherwise null. */
export async function send(exhibitId: number, step: Step, key: string): Promise<Exhibit | null> {
  const header = { "Idempotency-Key": key };
  const path = { exhibitId };
  if (step.do === "change") {
    const params = { path, header: { ...header, "If-Match": `"${step.version}"` } };
    return data(await api.PATCH("/exhibits/{exhibitId}", { params, body: step.body })) as Exhibit;
  }
  const names = [...step.names];
  const linked = { params: { path, header }, body: { custodians: names } };
  const tagged = { params: { header }, body: { exhibitIds: [exhibitId], tags: names } };
  if (step.list === "tags") await (step.do === "add" ? api.POST("/taggings", tagged) : api.DELETE("/taggings", tagged));
  else if (step.do === "add") await api.POST("/exhibits/{exhibitId}/custodians", linked);
  else await api.DELETE("/exhibits/{exhibitId}/custodians", linked);
  return null;
}
