import { useEffect, useState } from "react";
import { announce } from "../../ui/LiveRegion";
import { Sheet } from "./Sheet";
import type { SheetSettings } from "./useSheetSettings";
import type { Size } from "./zoom";

interface ImageViewProps {
  url: string;
  /** The size by the head of the file, until the browser has decoded it. */
  size: Size;
  label: string;
  turn: number;
  settings: SheetSettings;
}

/** A PNG or JPEG image, from the storage. */
export function ImageView({ url, size, label, turn, settings }: ImageViewProps) {
  const [loaded, setLoaded] = useState<Size | "broken" | null>(null);
  useEffect(() => {
    if (loaded !== null && loaded !== "broken") announce(`${label} is shown.`);
  }, [loaded, label]);
  if (loaded === "broken")
    return (
      <div className="notice bad" role="alert">
        <strong>The image is damaged</strong>
        <p>
          Download it to look at it with another program; if that fails too, ask the sender of the volume for a copy.
        </p>
      </div>
    );
  // A browser turns a photograph as its camera says, so that its sides may be exchanged.
  const { width, height } = loaded ?? size;
  return (
    <Sheet
      size={{ width: width || 1, height: height || 1 }}
      turn={(turn + settings.turn) % 360}
      zoom={settings.zoom}
      onScale={settings.onScale}
    >
      {() => (
        <img
          src={url}
          alt={label}
          referrerPolicy="no-referrer"
          onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
            setLoaded({ width: naturalWidth, height: naturalHeight })
          }
          onError={() => setLoaded("broken")}
        />
      )}
    </Sheet>
  );
}
