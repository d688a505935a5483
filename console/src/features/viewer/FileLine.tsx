import { useState } from "react";
import { Failure } from "../../ui/Failure";
import { Untrusted } from "../../ui/Untrusted";
import { formatBytes } from "../../ui/values";
import { signDownload } from "./queries";
import { fetchBytes } from "./tiff/fetchBytes";
import type { ExhibitFile } from "./views";

/** What a file is: path, size and hash, and its download. */
export function FileLine({ exhibitId, file, type }: { exhibitId: number; file: ExhibitFile; type?: string }) {
  return (
    <div className="file-line">
      <p>
        <span className="mono">
          <Untrusted text={file.path} />
        </span>
        {file.size !== null && <span className="quiet"> · {formatBytes(file.size)}</span>}
        {type && <span className="quiet"> · {type}</span>}
      </p>
      {file.url !== null && <Download exhibitId={exhibitId} file={file} />}
      {file.sha256 && (
        <details>
          <summary>SHA-256</summary>
          <code>{file.sha256}</code>
        </details>
      )}
    </div>
  );
}

/** The download: its URL is signed when it is needed, and tried before the browser is sent there. */
function Download({ exhibitId, file }: { exhibitId: number; file: ExhibitFile }) {
  const [state, setState] = useState<"idle" | "busy" | { error: unknown }>("idle");
  const download = async () => {
    setState("busy");
    try {
      const url = await signDownload(exhibitId, file);
      if (url === null) throw new Error("The file is not there any more. Reload the page to see what is.");
      if (file.size !== 0) await fetchBytes(url, 0, 1);
      save(url);
      setState("idle");
    } catch (error) {
      setState({ error });
    }
  };
  return (
    <>
      <button type="button" disabled={state === "busy"} onClick={() => void download()}>
        {state === "busy" ? "Starting the download…" : "Download"}
      </button>
      {typeof state === "object" && <Failure error={state.error} again={() => void download()} isByHand />}
    </>
  );
}

function save(url: string): void {
  const link = document.createElement("a");
  link.href = url;
  link.rel = "noreferrer";
  link.download = "";
  link.click();
}
