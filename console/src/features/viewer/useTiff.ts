import { useCallback, useEffect, useState } from "react";
import { FileFault } from "./tiff/faults";
import { decodeTiff, type TiffPage } from "./tiff/client";
import { PageCache } from "./pageCache";
import { identify, renewUrl, type Renew } from "./renewal";
import type { ExhibitFile } from "./views";

export type TiffState =
  | { state: "loading"; bytes: number; stop: () => void }
  | { state: "shown"; page: TiffPage }
  | { state: "stopped"; again: () => void }
  | { state: "fault"; fault: FileFault; again: () => void };

/** The pages around the one that is shown; three of them are 100 MB at 300 dpi. */
const cache = new PageCache<TiffPage>(3, (page) => page.image.close());

/** Free what the viewer has decoded. */
export const forgetPages = () => cache.clear();

/** Decode a page before it is shown; what fails is tried again when it is. */
export async function prefetchTiff(file: ExhibitFile, page: number, signal: AbortSignal): Promise<void> {
  if (!file.url || cache.get(nameOf(file, page))) return;
  const request = { file: identify(file), url: file.url, page };
  await decodeTiff(request, signal, () => undefined).then(
    (decoded) => cache.put(nameOf(file, page), decoded),
    () => undefined,
  );
}

const nameOf = (file: ExhibitFile, page: number) => `${identify(file)} ${page}`;

/** A page of a TIFF file, decoded in the worker. `renew` returns the file with a new URL, once this one is refused. */
export function useTiff(file: ExhibitFile, page: number, renew: Renew): TiffState {
  const name = nameOf(file, page);
  const [attempt, setAttempt] = useState(0);
  const [result, setResult] = useState<{ name: string; state: TiffState } | null>(null);
  const again = useCallback(() => setAttempt((each) => each + 1), []);
  // A new URL of the same file does not decode the page again.
  const url = file.url;
  useEffect(() => {
    const ends = new AbortController();
    const set = (state: TiffState) => !ends.signal.aborted && setResult({ name, state });
    const stop = () => {
      set({ state: "stopped", again });
      ends.abort();
    };
    const known = cache.get(name);
    if (known) {
      set({ state: "shown", page: known });
      return;
    }
    const decode = (from: string) =>
      decodeTiff({ file: identify(file), url: from, page }, ends.signal, (bytes) =>
        set({ state: "loading", bytes, stop }),
      );
    set({ state: "loading", bytes: 0, stop });
    decode(url!)
      .catch(async (error: unknown) => {
        if (!(error instanceof FileFault) || error.code !== "refused") throw error;
        const fresh = await renewUrl(file, renew);
        if (fresh === null) throw error;
        return decode(fresh);
      })
      .then((decoded) => {
        cache.put(name, decoded);
        set({ state: "shown", page: decoded });
      })
      .catch((error: unknown) => {
        const fault = error instanceof FileFault ? error : new FileFault("unanswered", "It could not be read.");
        set({ state: "fault", fault, again });
      });
    return () => ends.abort();
  }, [name, attempt]);
  return result?.name === name ? result.state : { state: "loading", bytes: 0, stop: () => undefined };
}
