import { useEffect, useRef } from "react";
import { announce } from "../../ui/LiveRegion";
import { formatBytes } from "../../ui/values";
import { Fault } from "./Fault";
import { Sheet } from "./Sheet";
import type { Renew } from "./renewal";
import type { TiffPage } from "./tiff/client";
import { useTiff } from "./useTiff";
import type { SheetSettings } from "./useSheetSettings";
import type { ExhibitFile } from "./views";
import type { Size } from "./zoom";

interface TiffViewProps {
  file: ExhibitFile;
  /** The page within the file. */
  page: number;
  label: string;
  /** How far the image load file turns the page, besides the file itself. */
  turn: number;
  settings: SheetSettings;
  renew: Renew;
  /** Have the file read as it is now. */
  reload: () => Promise<void>;
  onShown?: (page: TiffPage) => void;
}

/** A page of a TIFF file: only this page is fetched and decoded, in a worker. */
export function TiffView({ file, page, label, turn, settings, renew, reload, onShown }: TiffViewProps) {
  const tiff = useTiff(file, page, renew);
  const shown = tiff.state === "shown" ? tiff.page : null;
  useEffect(() => {
    if (shown) onShown?.(shown);
  }, [shown, onShown]);
  useEffect(() => {
    if (tiff.state === "shown") announce(`${label} is shown.`);
  }, [tiff.state, label]);
  if (tiff.state === "fault") return <Fault fault={tiff.fault} again={tiff.again} reload={reload} />;
  if (tiff.state === "stopped")
    return (
      <div className="notice">
        <p>{label} was not loaded.</p>
        <button type="button" onClick={tiff.again}>
          Load it
        </button>
      </div>
    );
  if (tiff.state === "loading")
    return (
      <div className="waiting" role="status">
        <p>
          Loading {label}
          {tiff.bytes > 0 && <span className="quiet"> · {formatBytes(tiff.bytes)}</span>}
        </p>
        <button type="button" onClick={tiff.stop}>
          Cancel
        </button>
      </div>
    );
  const { width, height, pixelHeight } = tiff.page;
  return (
    <Sheet
      size={{ width, height: height * pixelHeight }}
      turn={(tiff.page.turn + turn + settings.turn) % 360}
      zoom={settings.zoom}
      onScale={settings.onScale}
    >
      {(shown) => <Canvas page={tiff.page} label={label} shown={shown} />}
    </Sheet>
  );
}

/** The pixels of the page. For less room they are averaged, so that thin lines stay; a browser would leave some out. */
function Canvas({ page, label, shown }: { page: TiffPage; label: string; shown: Size }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const isSmaller = shown.width * devicePixelRatio < page.width;
  const width = isSmaller ? Math.max(1, Math.round(shown.width * devicePixelRatio)) : page.width;
  const height = isSmaller ? Math.max(1, Math.round(shown.height * devicePixelRatio)) : page.height;
  useEffect(() => {
    const context = canvas.current!.getContext("2d")!;
    context.imageSmoothingQuality = "high";
    context.drawImage(page.image, 0, 0, width, height);
  }, [page, width, height]);
  return <canvas ref={canvas} width={width} height={height} role="img" aria-label={label} />;
}
