import { useEffect } from "react";
import { Failure } from "../../ui/Failure";
import { announce } from "../../ui/LiveRegion";
import { UntrustedLines } from "../../ui/Untrusted";
import { formatBytes } from "../../ui/values";
import { Fault } from "./Fault";
import { FileFault } from "./tiff/faults";
import { ENCODINGS, type TextReader } from "./textReaders";
import { useText, type TextState } from "./useText";

interface TextViewProps {
  open: () => TextReader;
  /** Read it by another encoding; absent where the server has decoded it. */
  onEncoding?: (encoding: string) => void;
  /** Have the file read as it is now. */
  reload: () => Promise<void>;
}

/** A text, in parts: as text, whatever it holds. */
export function TextView({ open, onEncoding, reload }: TextViewProps) {
  const text = useText(open);
  const { last, parts } = text;
  useEffect(() => {
    if (parts.length > 0) announce(parts.length === 1 ? "The text is shown." : "More of the text is shown.");
  }, [parts.length]);
  const isChanged = text.error instanceof FileFault && text.error.code === "changed";
  const failure =
    text.error instanceof FileFault ? (
      <Fault fault={text.error} again={text.more} reload={reload} />
    ) : text.error !== null ? (
      <Failure error={text.error} again={text.more} />
    ) : null;
  if (last === null)
    return (
      failure ?? (
        <p role="status" className="waiting">
          Loading the text
        </p>
      )
    );
  if (last.size === 0) return <p className="notice">The text is empty: it has 0 bytes.</p>;
  return (
    <div className="text-view">
      <div className="bar">
        {onEncoding && last.encoding && <Encoding value={last.encoding} onChange={onEncoding} />}
        <Extent text={text} />
      </div>
      {text.isDamaged && (
        <p className="notice">
          Some bytes are not characters of this encoding, and are shown as �. Choose another encoding, or download the
          file.
        </p>
      )}
      <div className="text-area" tabIndex={0} role="region" aria-label="Text">
        <pre>
          {parts.map((part, index) => (
            <UntrustedLines key={index} text={part} />
          ))}
        </pre>
        {last.bytes < last.size && !isChanged && (
          <button type="button" disabled={text.isLoading} onClick={text.more}>
            {text.isLoading ? "Loading…" : "Show more of the text"}
          </button>
        )}
        {failure}
      </div>
    </div>
  );
}

/** How much of the text is on the page: the browser's own search finds nothing in the rest. */
function Extent({ text: { last } }: { text: TextState }) {
  const { bytes, size } = last!;
  if (bytes >= size) return <span className="quiet">{formatBytes(size)}, all of it is shown</span>;
  return (
    <span>
      {formatBytes(bytes)} of {formatBytes(size)} are shown; the browser’s search finds nothing in the rest.
    </span>
  );
}

function Encoding({ value, onChange }: { value: string; onChange: (encoding: string) => void }) {
  const isListed = ENCODINGS.some(([label]) => label === value);
  return (
    <label>
      Read as{" "}
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        {!isListed && <option value={value}>{value}</option>}
        {ENCODINGS.map(([label, name]) => (
          <option key={label} value={label}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
