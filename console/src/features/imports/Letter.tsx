import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, type Schemas } from "../../api/client";
import { Dialog } from "../../ui/Dialog";
import { Failure } from "../../ui/Failure";
import { announce } from "../../ui/LiveRegion";
import { Skeleton } from "../../ui/Skeleton";
import { buildLetter } from "./letter";

type Details = Schemas["ImportDetails"];

/** The letter to the producing party about what it has to send or correct: to be read, copied, saved or printed. */
export function Letter({ details }: { details: Details }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Letter of deficiencies…
      </button>
      {isOpen && <LetterDialog details={details} onClose={() => setOpen(false)} />}
    </>
  );
}

function LetterDialog({ details, onClose }: { details: Details; onClose: () => void }) {
  const report = useDeficiencies(details);
  const letter = report.data === undefined ? null : buildLetter(details, report.data, new Date());
  return (
    <Dialog title="Letter of deficiencies" open onClose={onClose}>
      {report.isPending && <Skeleton rows={6} />}
      {report.isError && <Failure error={report.error} again={() => void report.refetch()} />}
      {letter !== null && (
        <pre className="letter" tabIndex={0} aria-label="The letter">
          <bdi>{letter}</bdi>
        </pre>
      )}
      <div className="bar">
        {letter !== null && <Uses letter={letter} importId={details.id} />}
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

function Uses({ letter, importId }: { letter: string; importId: number }) {
  const copy = () =>
    navigator.clipboard.writeText(letter).then(
      () => announce("The letter is copied."),
      () => announce("The browser did not allow the copy. Select the text, or save it as a file."),
    );
  return (
    <>
      <button type="button" className="primary" onClick={() => save(letter, `import ${importId} - deficiencies.txt`)}>
        Save as .txt
      </button>
      <button type="button" onClick={() => void copy()}>
        Copy
      </button>
      <button type="button" onClick={() => save(letter, null)}>
        Open to print
      </button>
    </>
  );
}

/** Save the letter under a name, or open it as plain text in a tab of its own, which the browser prints. */
function save(letter: string, name: string | null): void {
  const link = document.createElement("a");
  // The mark has editors of Windows read it as UTF-8.
  link.href = URL.createObjectURL(
    new Blob(["\ufeff", letter.replaceAll("\n", "\r\n")], { type: "text/plain;charset=utf-8" }),
  );
  if (name === null) link.target = "_blank";
  else link.download = name;
  link.rel = "noopener";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** The text of the report; its URL lives for an hour, so one is requested when the text is needed. */
function useDeficiencies({ id: importId, status }: Details) {
  return useQuery({
    queryKey: ["deficiencies", importId, status],
    staleTime: 0,
    queryFn: async ({ signal }) => {
      const files = data(await api.GET("/imports/{importId}/reports", { params: { path: { importId } }, signal }));
      const response = await fetch(files.deficienciesText!.url, { signal, credentials: "omit" });
      if (!response.ok) throw new Error(`The storage refused to send the report (${response.status}). Try again.`);
      return response.text();
    },
  });
}
