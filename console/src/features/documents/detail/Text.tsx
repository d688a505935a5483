import { useState } from "react";
import { Untrusted } from "../../../ui/Untrusted";
import { findDifference } from "./difference";

const MOST = 240;
const SHORT = 60;

/** A text of a document; of a long one the beginning, until the user wants all of it. */
export function FoldedText({ text, most = MOST }: { text: string | null | undefined; most?: number }) {
  const [isOpen, setOpen] = useState(false);
  if (!text || text.length <= most) return <Untrusted text={text} />;
  const shown = isOpen ? text : `${text.slice(0, most).replace(/[\ud800-\udbff]$/, "")}…`;
  return (
    <>
      <Untrusted text={shown} />{" "}
      <button type="button" className="small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? "Show the beginning" : `Show all ${text.length.toLocaleString()} characters`}
      </button>
    </>
  );
}

interface ChangedProps {
  old: string | null | undefined;
  now: string | null | undefined;
}

/** A value before and after a change; of a long one the part that has changed. */
export function Changed({ old, now }: ChangedProps) {
  if (!old && !now) return <span className="quiet">blank</span>;
  if (!now)
    return (
      <>
        <Removed text={old ?? ""} /> <span className="quiet">removed</span>
      </>
    );
  if (!old) return <Added text={now} />;
  if (old === now)
    return (
      <>
        <FoldedText text={now} /> <span className="quiet">as before</span>
      </>
    );
  if (old.length <= SHORT && now.length <= SHORT)
    return (
      <>
        <Removed text={old} /> <span aria-hidden="true">→</span> <Added text={now} />
      </>
    );
  const { before, removed, added, after } = findDifference(old, now);
  return (
    <>
      {before && <Untrusted text={before} />}
      {removed && <Removed text={removed} />}
      {removed && added && " "}
      {added && <Added text={added} />}
      {after && <Untrusted text={after} />}
    </>
  );
}

const Removed = ({ text }: { text: string }) => (
  <del>
    <span className="unseen">from </span>
    <FoldedText text={text} />
  </del>
);

const Added = ({ text }: { text: string }) => (
  <ins>
    <span className="unseen">to </span>
    <FoldedText text={text} />
  </ins>
);
