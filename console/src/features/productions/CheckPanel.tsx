import { useRef } from "react";
import { Link } from "wouter";
import type { Schemas } from "../../api/client";
import { Failure } from "../../ui/Failure";
import { Skeleton } from "../../ui/Skeleton";
import { Untrusted } from "../../ui/Untrusted";
import { count, Count } from "../../ui/values";
import { faultOfPrefix, faultOfVolume, type Draft } from "./draft";
import { Findings } from "./Findings";
import { Privileged } from "./Privileged";
import { Produce } from "./Produce";
import { linkDocuments, linkWithImages, toRequest } from "./selection";
import type { Checked } from "./useCheck";

type Check = Schemas["ProductionCheck"];

interface PanelProps {
  caseId: number;
  draft: Draft;
  body: Schemas["NewProduction"] | null;
  checked: Checked | undefined;
  error: Error | null;
  /** Whether the check is that of the draft as it is. */
  isCurrent: boolean;
  canProduce: boolean | undefined;
  onChange: (changes: Partial<Draft>) => void;
  onAgain: () => void;
}

/** What the draft would be now. Nothing is reserved before the button is pressed. */
export function CheckPanel(props: PanelProps) {
  const { caseId, draft, body, error, isCurrent } = props;
  const newest = useNewest(props.checked);
  const checked = body === null ? undefined : newest;
  return (
    <section aria-labelledby="check" aria-busy={body !== null && !isCurrent} className="check">
      <h2 id="check">What it would be now</h2>
      {body === null && <p className="quiet">{tellNext(draft)}</p>}
      {body !== null && error && isCurrent && <Unchecked error={error} again={props.onAgain} />}
      {body !== null && !checked && !error && <Skeleton rows={4} />}
      {checked && !(error && isCurrent) && (
        <>
          <p className="quiet" role="status">
            {isCurrent ? "Checked. No number is used yet." : "Checking…"}
          </p>
          <Facts caseId={caseId} draft={draft} checked={checked} isCurrent={isCurrent} />
          <Findings caseId={caseId} findings={checked.check.findings}>
            {(finding) => <Cure {...props} finding={finding} />}
          </Findings>
          <Produce {...props} checked={checked} />
        </>
      )}
    </section>
  );
}

/** Why there is no check; that no document matches is what filters can come to. */
function Unchecked({ error, again }: { error: Error; again: () => void }) {
  if (!/^No exhibit of the case matches/.test(error.message)) return <Failure error={error} again={again} />;
  return (
    <div className="notice bad" role="alert">
      <strong>No document matches</strong>
      <p>There is nothing to produce. Take a filter away, or look at what the list of documents has.</p>
    </div>
  );
}

/** What is checked stays while the next check runs. */
function useNewest(checked: Checked | undefined): Checked | undefined {
  const last = useRef<Checked>(undefined);
  if (checked) last.current = checked;
  return last.current;
}

/** The next thing that the draft needs before it can be checked. */
function tellNext(draft: Draft): string {
  if (toRequest(draft.selection) === null)
    return "Choose the documents: a tag, another filter, or a list of control numbers. The check begins by itself.";
  if (!draft.prefix) return "Enter the prefix of the Bates numbers, such as SMITH. The check begins by itself.";
  return faultOfPrefix(draft.prefix) ?? (draft.volume ? faultOfVolume(draft.volume) : null) ?? "";
}

function Facts(props: Pick<PanelProps, "caseId" | "draft" | "isCurrent"> & { checked: Checked }) {
  const { caseId, draft } = props;
  const { check, body } = props.checked;
  // With their families, they are more than the list of the filters has; a check of another draft counts others.
  const list = draft.families || !props.isCurrent ? null : linkDocuments(caseId, draft.selection);
  const first = check.firstBates;
  const last = check.lastBates ?? check.expectedLastBates;
  return (
    <>
      <dl className="figures">
        <Figure name="documents" value={check.documents} href={list} />
        <Figure name="families" value={check.families} />
        <Figure name="with pages" value={check.withPages} href={list && linkWithImages(list)} />
        <Figure name="files" value={check.files} />
        <Figure name={check.numbers === null ? "numbers, expected" : "numbers"} value={check.expectedNumbers} />
      </dl>
      <p className="answer">
        <span className="mono">
          <Untrusted text={first} />
        </span>{" "}
        to{" "}
        {last === null ? (
          <strong>more than the digits allow</strong>
        ) : (
          <span className="mono">
            <Untrusted text={last} />
          </span>
        )}
        , one number for each {body.numbering === "page" ? "page" : "document"}, volume{" "}
        <span className="mono">{body.volume}</span>
      </p>
      {check.uncountedImages > 0 && (
        <p className="quiet">
          The pages in the images of {count(check.uncountedImages, "document")} are counted when the numbers are
          reserved: the last number can differ from the expected one.
        </p>
      )}
      {check.uncheckedFiles > 0 && (
        <p className="quiet">
          {count(check.uncheckedFiles, "file")} of {check.files.toLocaleString()} have not been looked up yet: the
          production looks them up before it takes numbers.
        </p>
      )}
      {isTooLong(check) && (
        <p className="fault" role="alert">
          The digits of the prefix do not suffice. Choose another prefix, or more digits for a new one.
        </p>
      )}
    </>
  );
}

const isTooLong = (check: Check) => check.lastBates === null && check.expectedLastBates === null;

function Figure({ name, value, href }: { name: string; value: number; href?: string | null }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {href && value > 0 ? (
          <Link href={href}>
            <Count value={value} />
          </Link>
        ) : (
          <Count value={value} />
        )}
      </dd>
    </div>
  );
}

/** What lifts a finding in the draft itself. */
function Cure({ caseId, draft, finding, onChange }: PanelProps & { finding: Schemas["ProductionFinding"] }) {
  if (finding.code === "INCOMPLETE_FAMILY" && !draft.families)
    return (
      <button type="button" onClick={() => onChange({ families: true })}>
        Include their families
      </button>
    );
  if (finding.code === "PRIVILEGED_TAG") return <Privileged caseId={caseId} draft={draft} onChange={onChange} />;
  return null;
}
