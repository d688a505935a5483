import type { Schemas } from "../../api/client";

/** The certificate of a purge as a file of JSON, as the command writes it. */
export const formatCertificate = (found: Schemas["Certificate"]): Blob =>
  new Blob([`${JSON.stringify(found, null, 2)}\n`], { type: "application/json" });
