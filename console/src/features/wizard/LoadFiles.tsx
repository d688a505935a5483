import { useId } from "react";
import type { Thing } from "../../upload";
import { formatBytes } from "../../ui/values";
import type { Kept } from "./kept";
import type { Draft } from "./queries";

interface LoadFilesProps {
  draft: Draft | null;
  thing: Thing | null;
  kept: Kept;
  onChange: (changes: { loadFile?: string | null; imageLoadFile?: string | null }) => void;
  /** Read the volume with another choice than it was listed with; absent where nothing has to be read again. */
  onApply?: () => void;
  isApplying: boolean;
}

interface Candidates {
  data: string[];
  images: string[];
}

/** The files that can have the rows, and those that can have the pages: as listed by the server, or in this window. */
export function findCandidates(draft: Draft | null, thing: Thing | null): Candidates {
  const listed = draft?.volume?.candidates ?? [];
  const pick = (kind: "data" | "images") => listed.filter((each) => each.kind === kind).map((each) => each.path);
  if (listed.length) return { data: pick("data"), images: pick("images") };
  if (thing?.kind !== "volume") return { data: [], images: [] };
  const all = thing.files.map((each) => each.path);
  const data = thing.loadFiles.length
    ? thing.loadFiles
    : all.filter((path) => /\.(dat|csv|txt)$/i.test(path)).slice(0, 100);
  return { data, images: thing.imageLoadFiles };
}

const formatOf = (path: string) => path.slice(path.lastIndexOf(".") + 1).toUpperCase();

/** Whether the server can find the load files by itself: one with rows, and images of one format. */
export function areClear({ data, images }: Candidates, kept: Kept, thing: Thing | null): boolean {
  if (thing?.kind === "zip") return true;
  const isDataClear = kept.loadFile !== null || (data.length === 1 && thing?.loadFiles.length !== 0);
  const isImagesClear = kept.imageLoadFile !== null || new Set(images.map(formatOf)).size < 2;
  return isDataClear && isImagesClear;
}

/** Whether the volume has to be listed again: it failed, or its imports are held with other load files. */
export function isOtherChoice(draft: Draft | null, kept: Kept): boolean {
  const volume = draft?.volume;
  if (volume?.status === "failed") return true;
  if (volume?.status !== "ready") return false;
  const isOther = (chosen: string | null, present: string | null) => chosen !== null && chosen !== present;
  return isOther(kept.loadFile, volume.loadFile) || isOther(kept.imageLoadFile, volume.imageLoadFile);
}

/** Which file of a volume has the rows and which the page images. */
export function LoadFiles({ draft, thing, kept, onChange, onApply, isApplying }: LoadFilesProps) {
  const found = findCandidates(draft, thing);
  const [rows, images] = [useId(), useId()];
  if (found.data.length + found.images.length === 0) return null;
  const sizes = new Map(draft?.volume?.candidates.map((each) => [each.path, each.size]));
  const label = (path: string) => (sizes.has(path) ? `${path} (${formatBytes(sizes.get(path)!)})` : path);
  const isSeveral = found.data.length > 1 || (thing?.loadFiles.length === 0 && found.data.length > 0);
  const formats = new Set(found.images.map(formatOf));
  return (
    <fieldset className="settings load-files">
      <legend className="unseen">The load files of the volume</legend>
      <div className="setting">
        <label htmlFor={rows}>Rows of documents are in</label>
        <select
          id={rows}
          value={kept.loadFile ?? draft?.volume?.loadFile ?? (isSeveral ? "" : found.data[0])}
          onChange={(event) => onChange({ loadFile: event.target.value || null })}
        >
          {isSeveral && <option value="">Choose one…</option>}
          {found.data.map((path) => (
            <option key={path} value={path}>
              {label(path)}
            </option>
          ))}
        </select>
      </div>
      {found.images.length > 0 && (
        <div className="setting">
          <label htmlFor={images}>Page images are in</label>
          <select
            id={images}
            value={kept.imageLoadFile ?? ""}
            onChange={(event) => onChange({ imageLoadFile: event.target.value || null })}
          >
            <option value="">
              {formats.size > 1
                ? "Choose one: OPT and LFP often list the same pages"
                : found.images.length > 1
                  ? `all ${found.images.length} ${[...formats][0]} files, one after the other`
                  : label(found.images[0]!)}
            </option>
            {found.images.length > 1 &&
              found.images.map((path) => (
                <option key={path} value={path}>
                  {label(path)}
                </option>
              ))}
          </select>
        </div>
      )}
      {onApply && (
        <div className="setting">
          <button type="button" disabled={isApplying} onClick={onApply}>
            {isApplying ? "Reading…" : "Read these load files"}
          </button>
          <span className="quiet small">Nothing is sent again.</span>
        </div>
      )}
    </fieldset>
  );
}
