import type { Case } from "../../api/cases";

/** The changes of a case. */
export type Act = "rename" | "close" | "reopen" | "hold" | "lift" | "purge" | "withdraw";

/** What the state of a case allows. */
export function listActs({ status, hold, purge }: Pick<Case, "status" | "hold" | "purge">): Act[] {
  if (status === "purging" || status === "purged") return [];
  if (purge) return ["withdraw", "hold", "rename"];
  const state: Act = status === "open" ? "close" : "reopen";
  return hold ? [state, "rename", "lift"] : [state, "rename", "hold", "purge"];
}
