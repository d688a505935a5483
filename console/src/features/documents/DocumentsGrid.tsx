import { memo, type KeyboardEvent, type MouseEvent } from "react";
import { Link } from "wouter";
import { Grid, GridRow } from "../../ui/Grid";
import { Untrusted } from "../../ui/Untrusted";
import { Count } from "../../ui/values";
import type { Summary } from "./list/source";
import type { ListView } from "./list/useDocumentList";

interface GridProps {
  view: ListView;
  cursor: number | null;
  open: number | null;
  isChosen: (id: number) => boolean;
  areAllChosen: boolean;
  hrefOf: (id: number) => string;
  onKeyDown: (event: KeyboardEvent) => void;
  onPoint: (index: number, event: MouseEvent) => void;
  onToggle: (index: number, event: MouseEvent) => void;
  onToggleAll: () => void;
}

/** The documents that match, as a grid: only the rows in view are in the page. */
export function DocumentsGrid(props: GridProps) {
  const { view, cursor } = props;
  const { list, scroller } = view;
  const row = (index: number) => {
    const each = list.pieces.row(index);
    const [top, isActive] = [scroller.top(index), index === cursor];
    if (!each) return <Unread key={`at ${index}`} index={index} top={top} isActive={isActive} />;
    return (
      <DocumentRow
        key={each.id}
        each={each}
        index={index}
        top={top}
        isActive={isActive}
        isOpen={each.id === props.open}
        isChosen={props.isChosen(each.id)}
        href={props.hrefOf(each.id)}
        onPoint={props.onPoint}
        onToggle={props.onToggle}
      />
    );
  };
  const [first, last] = scroller.rows;
  const isDrawn = cursor !== null && cursor >= first - 1 && cursor <= last + 1;
  return (
    <Grid
      label="Documents"
      header={<Header areAllChosen={props.areAllChosen} onToggleAll={props.onToggleAll} />}
      scroller={scroller}
      count={list.isCounted ? list.pieces.total : null}
      row={row}
      active={isDrawn ? idOf(list.pieces.row(cursor)?.id, cursor) : undefined}
      onKeyDown={props.onKeyDown}
    />
  );
}

const idOf = (id: number | undefined, index: number) => (id === undefined ? `row-${index}` : `document-${id}`);

function Header({ areAllChosen, onToggleAll }: { areAllChosen: boolean; onToggleAll: () => void }) {
  return (
    <>
      <div role="columnheader" className="c-box">
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label="Choose all that match"
          checked={areAllChosen}
          onChange={onToggleAll}
        />
      </div>
      <div role="columnheader" className="c-number">
        Control number
      </div>
      <div role="columnheader">Title</div>
      <div role="columnheader" className="c-wide">
        Custodian
      </div>
      <div role="columnheader" className="c-wide c-tags">
        Tags
      </div>
      <div role="columnheader" className="c-date">
        Date
      </div>
      <div role="columnheader" className="c-wide">
        Files
      </div>
      <div role="columnheader" className="num c-wide">
        Pages
      </div>
      <div role="columnheader" className="c-wide">
        Bates, first
      </div>
    </>
  );
}

function Unread({ index, top, isActive }: { index: number; top: number; isActive: boolean }) {
  return (
    <GridRow id={`row-${index}`} index={index} top={top} isChosen={undefined} className={isActive ? "active" : ""}>
      <div role="gridcell" className="c-all">
        <span className="bone" />
        <span className="unseen">Loading</span>
      </div>
    </GridRow>
  );
}

interface RowProps {
  each: Summary;
  index: number;
  top: number;
  isActive: boolean;
  isOpen: boolean;
  isChosen: boolean;
  href: string;
  onPoint: (index: number, event: MouseEvent) => void;
  onToggle: (index: number, event: MouseEvent) => void;
}

const DocumentRow = memo(function DocumentRow(props: RowProps) {
  const { each, index, top, isActive, isOpen, isChosen, href, onPoint, onToggle } = props;
  const files = [each.hasNative && "native", each.hasText && "text"].filter(Boolean).join(", ");
  const classes = [isActive && "active", isOpen && "open", isChosen && "chosen"].filter(Boolean).join(" ");
  return (
    <GridRow
      id={`document-${each.id}`}
      index={index}
      top={top}
      isChosen={isChosen}
      className={classes}
      onClick={(event) => onPoint(index, event)}
    >
      <div
        role="gridcell"
        className="c-box"
        onClick={(event) => {
          event.stopPropagation();
          onToggle(index, event);
        }}
      >
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label={`Choose ${each.controlNumber}`}
          checked={isChosen}
          onChange={() => undefined}
        />
      </div>
      <div role="rowheader" className="c-number mono">
        {each.parentControlNumber !== null && (
          <span className="quiet">
            <span aria-hidden="true">└ </span>
            <span className="unseen">Attachment </span>
          </span>
        )}
        <Link href={href} tabIndex={-1} aria-current={isOpen ? "true" : undefined}>
          <Untrusted text={each.controlNumber} />
        </Link>
      </div>
      <div role="gridcell">
        <Untrusted text={cut(each.title ?? each.fileName)} />
      </div>
      <div role="gridcell" className="c-wide">
        <Names names={each.custodians} />
      </div>
      <div role="gridcell" className="c-wide c-tags">
        <Names names={each.tags} />
      </div>
      <div role="gridcell" className="c-date">
        {each.documentDate?.slice(0, 10) ?? <None />}
      </div>
      <div role="gridcell" className="c-wide">
        {files || <None />}
      </div>
      <div role="gridcell" className="num c-wide">
        <Count value={each.pageCount} />
      </div>
      <div role="gridcell" className="mono c-wide">
        <Untrusted text={each.batesBegin} />
      </div>
    </GridRow>
  );
});

const None = () => <span className="quiet">–</span>;

/** The names of custodians or tags, the first few of many. */
function Names({ names }: { names: string[] | null | undefined }) {
  if (!names?.length) return <None />;
  return (
    <>
      {names.slice(0, 5).map((name, index) => (
        <span key={name}>
          {index > 0 && ", "}
          <Untrusted text={cut(name)} />
        </span>
      ))}
      {names.length > 5 && ` and ${names.length - 5} more`}
    </>
  );
}

/** More than a cell shows is not drawn sixty times. */
const cut = (text: string | null) => (text && text.length > 300 ? `${text.slice(0, 300)}…` : text);
