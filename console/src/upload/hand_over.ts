import type { Picked } from "./types";

let handedOver: Picked | null = null;

/** Keep what was chosen on one page for the next one, which a link cannot carry. */
export function handOver(picked: Picked): void {
  handedOver = picked;
}

/** Return what another page has handed over, once. */
export function takeHandedOver(): Picked | null {
  const picked = handedOver;
  handedOver = null;
  return picked;
}
