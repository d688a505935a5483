import { useMutation } from "@tanstack/react-query";
import { Link } from "wouter";
import type { Schemas } from "../../../api/client";
import { Failure } from "../../../ui/Failure";
import { More } from "../../../ui/More";
import { Skeleton } from "../../../ui/Skeleton";
import { useViewerHref } from "./useHref";
import { Untrusted } from "../../../ui/Untrusted";
import { formatBytes } from "../../../ui/values";
import type { Exhibit } from "./fields";
import { readFiles, useFiles } from "./queries";
import { Section } from "./Section";

type File = Schemas["ExhibitFile"];

/** The native, the text and the images of a document: what is there, and what its volume lacks. */
export function Files({ exhibit }: { exhibit: Exhibit }) {
  const parts = [
    exhibit.nativePath !== null && "native",
    (exhibit.textPath !== null || exhibit.hasExtractedText) && "text",
    exhibit.pageCount > 0 && `${exhibit.pageCount.toLocaleString()} pages`,
  ].filter(Boolean);
  return (
    <Section name="Files" note={parts.join(", ") || "none"}>
      <List exhibit={exhibit} />
    </Section>
  );
}

function List({ exhibit }: { exhibit: Exhibit }) {
  const files = useFiles(exhibit.id, exhibit.version);
  if (files.isPending) return <Skeleton rows={2} />;
  if (files.isError && !files.data) return <Failure error={files.error} again={() => void files.refetch()} />;
  const pages = files.data.pages.map((page, at) => ({
    items: page.items,
    after: (files.data.pageParams[at] ?? null) as string | null,
  }));
  if (pages[0]?.items.length === 0)
    return <p className="quiet">No native, text or images were imported for this document.</p>;
  return (
    <>
      <ul className="plain files">
        {pages.flatMap(({ items, after }) =>
          items.map((file) => <Item key={nameOf(file)} {...{ exhibit, file, after }} />),
        )}
      </ul>
      <More pages={files} what="files" />
    </>
  );
}

const nameOf = ({ kind, page, path }: File) => `${kind} ${page} ${path}`;

function Item({ exhibit, file, after }: { exhibit: Exhibit; file: File; after: string | null }) {
  const viewer = useViewerHref(exhibit.caseId, exhibit.id);
  return (
    <li>
      <strong>{title(file)}</strong>{" "}
      {file.path !== null && (
        <span className="mono">
          <Untrusted text={file.path} />
        </span>
      )}
      <div className="bar">
        <State file={file} />
        {file.size !== null && (
          <span className="num" title={`${file.size.toLocaleString()} bytes`}>
            {formatBytes(file.size)}
          </span>
        )}
        {file.path === null && <Link href={viewer}>Read it in the viewer</Link>}
        {file.url !== null && <Get exhibitId={exhibit.id} file={file} after={after} />}
      </div>
      {file.sha256 !== null && <div className="quiet hash">SHA-256 {file.sha256}</div>}
    </li>
  );
}

function title({ kind, page, pageInFile, path }: File): string {
  if (kind === "native") return "Native";
  if (kind === "text") return path === null ? "Text, from a cell of the load file" : "Text";
  return pageInFile === null ? `Page ${page}` : `Page ${page}, page ${pageInFile} of its file`;
}

function State({ file }: { file: File }) {
  if (file.state === "stored") return <span className="quiet">there</span>;
  if (file.state === "missing") return <span className="status bad">missing: its volume does not have it</span>;
  return file.url === null ? (
    <span className="status bad">its path leads out of the case’s files</span>
  ) : (
    <span className="status idle">loaded by its path: may not be there</span>
  );
}

/** URLs live for an hour, so one is requested when it is needed; another tab keeps what is entered in this one. */
function Get({ exhibitId, file, after }: { exhibitId: number; file: File; after: string | null }) {
  const get = useMutation({
    mutationFn: async () => {
      const { items } = await readFiles(exhibitId, after);
      const found = items.find((each) => nameOf(each) === nameOf(file));
      // An overlay can have put other bytes in its place: what opens is what the list says, with its hash.
      if (!found?.url || found.sha256 !== file.sha256)
        throw new Error("The file is not there any more, or is another one. Close the document and open it again.");
      open(found.url, "_blank", "noopener,noreferrer");
    },
  });
  const isDownload = file.mediaType === null || file.mediaType === "application/octet-stream";
  return (
    <>
      <button type="button" className="small" disabled={get.isPending} onClick={() => get.mutate()}>
        {isDownload ? "Download" : "Open in a new tab"}
        <span className="unseen"> {title(file)}</span>
      </button>
      {get.isError && <Failure error={get.error} again={() => get.mutate()} />}
    </>
  );
}
