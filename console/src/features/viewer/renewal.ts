// A signed URL ends while its file is looked at. A new one is used only for the same file: an overlay can have put another
// one in its place.
import { FileFault } from "./tiff/faults";
import type { ExhibitFile } from "./views";

/** Returns the file that is in the place of the one that is shown, with a URL that works; null if there is none. */
export type Renew = (shown: ExhibitFile) => Promise<ExhibitFile | null>;

/** Return what a file is, whatever its URL. */
export const identify = ({ volumeId, path, sha256 }: ExhibitFile): string => JSON.stringify([volumeId, path, sha256]);

/** Return a new URL of a file; null if there is none. Throws FileFault if another file is in its place. */
export async function renewUrl(file: ExhibitFile, renew: Renew): Promise<string | null> {
  const fresh = await renew(file).catch(() => null);
  if (!fresh?.url) return null;
  if (identify(fresh) !== identify(file)) throw changed();
  return fresh.url;
}

export const changed = () =>
  new FileFault(
    "changed",
    "While you looked at it, an overlay or an edit gave the document another file in its place.",
  );
