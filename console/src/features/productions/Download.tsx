import { useEffect, useState, useSyncExternalStore } from "react";
import type { Schemas } from "../../api/client";
import { Failure } from "../../ui/Failure";
import { LeaveGuard } from "../../ui/LeaveGuard";
import { announce } from "../../ui/LiveRegion";
import { formatBytes } from "../../ui/values";
import { Crosswalk } from "./Crosswalk";
import { Download as Run } from "./download/download";
import { VolumeFault } from "./download/files";
import { FolderTarget } from "./download/folder";
import { saveBlob } from "../../ui/save";
import { openFileSink, openMemorySink, ZipTarget } from "./download/zip";
import { DownloadResult } from "./DownloadResult";

type Production = Schemas["Production"];

/** What of the File System Access API is used; browsers without it have no pickers. */
interface Pickers {
  showDirectoryPicker?: (options: { mode: "readwrite"; id: string }) => Promise<FileSystemDirectoryHandle>;
  showSaveFilePicker?: (options: { suggestedName: string }) => Promise<FileSystemFileHandle>;
}

/** A zip that no picker puts on the disk is in the memory of the browser until it is saved. */
const MAX_IN_MEMORY = 1_000_000_000;
const pickers = globalThis as unknown as Pickers;

interface Started {
  run: Run;
  folder: FolderTarget | null;
}

/** The volume, into a folder or as a zip: every file counts only with the hash that the production has for it. */
export function Download({ production }: { production: Production }) {
  const [started, setStarted] = useState<Started | null>(null);
  const [fault, setFault] = useState<unknown>(null);
  useEffect(() => () => started?.run.cancel(), [started]);
  const start = async (open: () => Promise<Started>) => {
    setFault(null);
    try {
      const next = await open();
      setStarted(next);
      void next.run.run();
    } catch (error) {
      // The user has closed the picker.
      if (!(error instanceof DOMException && error.name === "AbortError")) setFault(error);
    }
  };
  return (
    <section aria-labelledby="volume" className="download">
      <h2 id="volume">
        Volume <span className="mono">{production.volume}</span>
      </h2>
      {started ? (
        <Running production={production} started={started} onClose={() => setStarted(null)} />
      ) : (
        <Offer
          production={production}
          onFolder={() => void start(() => openFolder(production))}
          onZip={() => void start(() => openZip(production))}
        />
      )}
      {fault !== null && <Failure error={fault} />}
    </section>
  );
}

function Offer(props: { production: Production; onFolder: () => void; onZip: () => void }) {
  const { production } = props;
  const hasFolders = pickers.showDirectoryPicker !== undefined;
  return (
    <>
      <div className="bar">
        {hasFolders && (
          <button type="button" className="primary" onClick={props.onFolder}>
            Download into a folder…
          </button>
        )}
        <button type="button" className={hasFolders ? undefined : "primary"} onClick={props.onZip}>
          Download as a zip…
        </button>
        <Crosswalk production={production} />
      </div>
      <p className="quiet">
        {hasFolders && "In a folder, a download that was interrupted goes on when it is started again. "}
        {pickers.showSaveFilePicker === undefined &&
          `This browser keeps a zip in its memory until it is whole: up to ${formatBytes(MAX_IN_MEMORY)}. `}
        Every file is compared with its SHA-256 in MANIFEST.csv, whose own is{" "}
        <span className="mono">{production.manifestSha256}</span>.
      </p>
    </>
  );
}

async function openFolder(production: Production): Promise<Started> {
  const chosen = await pickers.showDirectoryPicker!({ mode: "readwrite", id: "volumes" });
  const folder = new FolderTarget(chosen, production.volume);
  return { run: new Run(production, folder), folder };
}

async function openZip(production: Production): Promise<Started> {
  const name = `production ${production.id} - ${production.volume}.zip`;
  if (pickers.showSaveFilePicker) {
    const sink = await openFileSink(await pickers.showSaveFilePicker({ suggestedName: name }));
    return { run: new Run(production, new ZipTarget(sink, production.volume)), folder: null };
  }
  const sink = openMemorySink(name, (zip) => saveBlob(name, zip));
  return { run: new Run(production, new ZipTarget(sink, production.volume), admitInMemory(production)), folder: null };
}

const admitInMemory = (production: Production) => (bytes: number) => {
  if (bytes <= MAX_IN_MEMORY) return;
  throw new VolumeFault(
    `The volume has ${formatBytes(bytes)}, and this browser can keep ${formatBytes(MAX_IN_MEMORY)} of a zip. Use Chrome or Edge, or the command: exhibit-ingest productions download ${production.id} FOLDER`,
  );
};

function Running({ production, started, onClose }: { production: Production; started: Started; onClose: () => void }) {
  const { run, folder } = started;
  const state = useSyncExternalStore(run.subscribe, () => run.state);
  const { status } = state;
  useEffect(() => {
    if (status === "done") announce("The volume is downloaded, all hashes are equal.");
    if (status === "incomplete" || status === "stopped") announce("The download is not complete.");
  }, [status]);
  const replace = () => {
    for (const each of state.other) folder?.replaced.add(each);
    void run.run();
  };
  return (
    <>
      <LeaveGuard isActive={status === "running"} title="Leave the download?" leave="Stop the download">
        <p>
          The volume <span className="mono">{production.volume}</span> is being downloaded. What is in a folder stays
          there, and a new download goes on from it; a zip is not saved before it is whole.
        </p>
      </LeaveGuard>
      <DownloadResult
        state={state}
        place={folder?.place ?? null}
        onAgain={() => void run.run()}
        onReplace={replace}
        onCancel={() => run.cancel()}
        onClose={onClose}
      />
    </>
  );
}
