import type { Picked } from "./types";

interface HandedOver {
  picked?: Picked;
  /** The name of the case that the import is for. */
  caseName?: string;
}

let handedOver: HandedOver = {};

/** Keep what was chosen on one page for the next one, which a link cannot carry. */
export function handOver(chosen: HandedOver): void {
  handedOver = chosen;
}

/** Return what another page has handed over, once. */
export function takeHandedOver(): HandedOver {
  const chosen = handedOver;
  handedOver = {};
  return chosen;
}
