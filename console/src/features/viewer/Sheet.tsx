import { useEffect, useLayoutEffect, useRef, useState, type ReactNode } from "react";
import { findScale, turnSize, type Size, type Zoom } from "./zoom";

interface SheetProps {
  /** The page as it is stored, in pixels that are square. */
  size: Size;
  turn: number;
  zoom: Zoom;
  onScale: (scale: number) => void;
  children: (shown: Size) => ReactNode;
}

/** A page at the size that was chosen, turned, in an area that scrolls. What it has fills the size that it is given. */
export function Sheet({ size, turn, zoom, onScale, children }: SheetProps) {
  const area = useRef<HTMLDivElement>(null);
  const room = useRoom(area);
  useScrollKeys(area);
  const scale = room ? findScale(zoom, turnSize(size, turn), room) : 0;
  const shown = { width: Math.floor(size.width * scale), height: Math.floor(size.height * scale) };
  useLayoutEffect(() => {
    if (scale > 0) onScale(scale);
  }, [scale, onScale]);
  return (
    <div className="sheet-area" ref={area} tabIndex={0} role="region" aria-label="Shown page">
      {scale > 0 && (
        <div className="sheet" style={turnSize(shown, turn)}>
          <div className="sheet-content" style={{ ...shown, transform: `translate(-50%, -50%) rotate(${turn}deg)` }}>
            {children(shown)}
          </div>
        </div>
      )}
    </div>
  );
}

const STEP = 60;

/** Have the keys that scroll act on the page while nothing else has the focus. */
function useScrollKeys(area: React.RefObject<HTMLDivElement | null>): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isFree = event.target === document.body || (event.target as Element).id === "main";
      const screen = area.current!.clientHeight - STEP;
      const down = { ArrowDown: STEP, ArrowUp: -STEP, " ": event.shiftKey ? -screen : screen }[event.key];
      if (!isFree || down === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      area.current!.scrollBy({ top: down });
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [area]);
}

/** The size of the area, without its scroll bars. */
function useRoom(area: React.RefObject<HTMLDivElement | null>): Size | null {
  const [room, setRoom] = useState<Size | null>(null);
  useLayoutEffect(() => {
    const element = area.current!;
    const measure = () => {
      const next = { width: element.clientWidth - 16, height: element.clientHeight - 16 };
      setRoom((known) => (known?.width === next.width && known.height === next.height ? known : next));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [area]);
  return room;
}
