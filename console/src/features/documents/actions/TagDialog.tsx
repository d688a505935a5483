import { useState } from "react";
import { Dialog } from "../../../ui/Dialog";
import { Failure } from "../../../ui/Failure";
import { Untrusted } from "../../../ui/Untrusted";
import { useLeaveWarning } from "../../../ui/useLeaveWarning";
import { count } from "../../../ui/values";
import { TotalInWords } from "../filtering/NoMatches";
import { useCountOf } from "../facets";
import type { ActionProps } from "../selection";
import { MOST_NAMED, toSelected } from "./selected";
import { useStartJob } from "./requests";
import { TagPicker } from "./TagPicker";
import { useTagging, type Tagging } from "./useTagging";
import { nameSize } from "./words";

interface TagDialogProps extends ActionProps {
  isRemoval: boolean;
  onClose: () => void;
  /** Called with what was done to documents that were chosen one by one. */
  onTagged: (tagging: Tagging) => void;
}

/** Choose a tag: documents that were chosen by hand get it at once, all that match by a job that goes on by itself. */
export function TagDialog(props: TagDialogProps) {
  const { selection, size } = props;
  const title = `${props.isRemoval ? "Remove a tag from" : "Tag"} ${nameSize(size)}`;
  return selection.kind === "some" ? (
    <ByIds {...props} ids={selection.ids} title={title} />
  ) : (
    <Dialog title={title} open onClose={props.onClose}>
      <AllThatMatch {...props} />
    </Dialog>
  );
}

function ByIds(props: TagDialogProps & { ids: ReadonlySet<number>; title: string }) {
  const { caseId, ids, isRemoval, title, onClose, onTagged } = props;
  const { tagging, start, retry, stop } = useTagging(caseId, isRemoval, (done) => {
    onTagged(done);
    onClose();
  });
  const isRunning = tagging !== null && tagging.outcome === null;
  useLeaveWarning(isRunning);
  return (
    // What fails has to be seen: the dialog stays until everything is done, or stopped.
    <Dialog title={title} open onClose={isRunning ? undefined : onClose}>
      {tagging === null ? (
        <TagPicker caseId={caseId} isRemoval={isRemoval} onChoose={(tag) => start(tag, ids)} />
      ) : (
        <Progress tagging={tagging} retry={retry} />
      )}
      {isRunning ? (
        <div className="bar">
          <button type="button" autoFocus onClick={stop}>
            Stop
          </button>
        </div>
      ) : (
        <Close onClose={onClose} />
      )}
    </Dialog>
  );
}

function Progress({ tagging: { tag, all, done, outcome }, retry }: { tagging: Tagging; retry: () => void }) {
  const left = all - done;
  return (
    <>
      <p>
        <Untrusted text={tag} />: {done.toLocaleString()} of {count(all, "document")}
      </p>
      <progress max={all} value={done} aria-label="Documents that are done" />
      {outcome !== null && left > 0 && (
        <p>
          {count(left, "document")} {left === 1 ? "is" : "are"} not done
          {done > 0 && "; the others are"}. {outcome.error === null ? <GoOn retry={retry} /> : "What failed last:"}
        </p>
      )}
      {outcome !== null && outcome.error !== null && <Failure error={outcome.error} again={retry} isByHand />}
    </>
  );
}

function GoOn({ retry }: { retry: () => void }) {
  return (
    <button type="button" onClick={retry}>
      Go on
    </button>
  );
}

function AllThatMatch({ caseId, caseName, filters, selection, size, isRemoval, onClose }: TagDialogProps) {
  const [chosen, setChosen] = useState<{ tag: string; key: string } | null>(null);
  const start = useStartJob(caseId);
  const query = toSelected(filters, selection);
  // The list does not count what reads every document; who changes all of them has to know how many these are.
  const counted = useCountOf(caseId, { ...filters, except: query?.exceptIds }, size === null && query !== null);
  if (query === null || caseName === null)
    return (
      <>
        <p>
          {query === null
            ? `At most ${MOST_NAMED.toLocaleString()} documents can be left out one by one. Leave them out by a filter instead.`
            : "The case is being read."}
        </p>
        <Close onClose={onClose} />
      </>
    );
  if (chosen === null)
    return (
      <>
        <TagPicker
          caseId={caseId}
          isRemoval={isRemoval}
          onChoose={(tag) => setChosen({ tag, key: crypto.randomUUID() })}
        />
        <Close onClose={onClose} />
      </>
    );
  const number = size === null && counted.data ? <TotalInWords total={counted.data} /> : nameSize(size);
  const request = { ...chosen, caseName, query, isRemoval };
  return (
    <>
      <p>
        {isRemoval ? "Remove the tag" : "Give the tag"} “<Untrusted text={chosen.tag} />” {isRemoval ? "from" : "to"}{" "}
        {number}
        {selection.kind === "all" &&
          selection.except.size > 0 &&
          `, without the ${selection.except.size.toLocaleString()} that you left out`}
        . It goes on by itself, also when this window is closed, and can be cancelled. What it has done then stays.
      </p>
      {start.isError && <Failure error={start.error} />}
      <div className="bar">
        <button
          type="button"
          className="primary"
          autoFocus
          disabled={start.isPending}
          onClick={() => start.mutate(request, { onSuccess: onClose })}
        >
          {isRemoval ? "Remove from" : "Tag"} {number}
        </button>
        <button type="button" onClick={() => setChosen(null)}>
          Choose another tag
        </button>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </>
  );
}

function Close({ onClose }: { onClose: () => void }) {
  return (
    <div className="bar">
      <button type="button" onClick={onClose}>
        Close
      </button>
    </div>
  );
}
