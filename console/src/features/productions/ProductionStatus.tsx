import type { Schemas } from "../../api/client";
import { STATUSES } from "./states";

/** The status of a production: in words, and in a colour that says nothing more. */
export function ProductionStatus({ value }: { value: Schemas["ProductionStatus"] }) {
  const [words, tone] = STATUSES[value];
  return <span className={`status ${tone}`}>{words}</span>;
}
