import { useCallback, useMemo, useRef, useState } from "react";
import { step, type Zoom } from "./zoom";

export interface SheetSettings {
  zoom: Zoom;
  /** How far the user has turned the page, in degrees. */
  turn: number;
  /** The scale as it is now, in percent. */
  percent: number;
  onScale: (scale: number) => void;
  setZoom: (zoom: Zoom) => void;
  change: (direction: 1 | -1) => void;
  rotate: () => void;
}

/** How pages are shown: chosen once for all pages of the document, but for the turn, which is of one page. */
export function useSheetSettings(page: string): SheetSettings {
  const [zoom, setZoom] = useState<Zoom>("width");
  const [percent, setPercent] = useState(100);
  const [turned, setTurned] = useState({ page, turn: 0 });
  const scale = useRef(1);
  const turn = turned.page === page ? turned.turn : 0;
  const onScale = useCallback((now: number) => {
    scale.current = now;
    setPercent(Math.round(now * 100));
  }, []);
  return useMemo(
    () => ({
      zoom,
      turn,
      percent,
      onScale,
      setZoom,
      change: (direction) => setZoom(step(scale.current, direction)),
      rotate: () => setTurned({ page, turn: (turn + 90) % 360 }),
    }),
    [zoom, turn, percent, onScale, page],
  );
}
