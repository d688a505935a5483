/** How large a page is shown: as wide as there is room, wholly, or with pixels of this size. */
export type Zoom = "width" | "whole" | number;

export interface Size {
  width: number;
  height: number;
}

const STEPS = [0.05, 0.1, 0.15, 0.2, 0.25, 0.33, 0.5, 0.67, 0.8, 1, 1.25, 1.5, 2, 3, 4];

/** Return the factor from pixels of the page to pixels of the screen. */
export function findScale(zoom: Zoom, page: Size, room: Size): number {
  if (typeof zoom === "number") return zoom;
  const across = room.width / page.width;
  const scale = zoom === "width" ? across : Math.min(across, room.height / page.height);
  return Math.min(Math.max(scale, 0.01), 4);
}

/** Return the next larger or smaller step. */
export function step(scale: number, direction: 1 | -1): number {
  const steps = direction === 1 ? STEPS : [...STEPS].reverse();
  const isBeyond = (each: number) => (direction === 1 ? each > scale * 1.01 : each < scale * 0.99);
  return steps.find(isBeyond) ?? steps.at(-1)!;
}

/** Return a size after a turn by quarters. */
export const turnSize = ({ width, height }: Size, turn: number): Size =>
  turn % 180 === 0 ? { width, height } : { width: height, height: width };
