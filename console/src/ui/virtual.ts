// The rows of a list that a scrolling element shows. Browsers clamp the height of an element (Chromium at 33,554,432
// pixels, Firefox at about 17,900,000), so a long list is lower than its rows: small steps move the rows as far as the
// scrollbar says, and a drag of the scrollbar by its share of the list.

/** Below what any browser clamps. */
export const MOST_PX = 15_000_000;
/** A step of as many views or fewer is one of a wheel, a finger or a key; a longer one is of the scrollbar. */
const SMALL_VIEWS = 3;

export class Scroller {
  /** How far the list is scrolled, as if nothing was clamped. */
  offset = 0;
  /** Where the scrollbar has to be for it. */
  scrollTop = 0;
  private count = 0;
  private view = 0;
  private version = 0;
  private readonly listeners = new Set<() => void>();

  constructor(
    readonly rowHeight: number,
    private readonly most = MOST_PX,
  ) {}

  subscribe = (listener: () => void) => {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  };

  getVersion = () => this.version;

  /** The height of the element that has the rows. */
  get height(): number {
    return Math.min(this.count * this.rowHeight, this.most);
  }

  get total(): number {
    return this.count;
  }

  get viewHeight(): number {
    return this.view;
  }

  /** The first and the last row in view; the last one is before the first if there are none. */
  get rows(): [first: number, last: number] {
    const first = Math.floor(this.offset / this.rowHeight);
    return [first, Math.min(Math.ceil((this.offset + this.view) / this.rowHeight), this.count) - 1];
  }

  /** Where a row is in the element that has the rows. */
  top = (row: number): number => row * this.rowHeight - this.offset + this.scrollTop;

  /** Say how many rows there are, how high the view is, and how far the rows in view have moved. */
  resize(count: number, view: number, moved = 0): void {
    if (count === this.count && view === this.view && moved === 0) return;
    [this.count, this.view] = [count, view];
    this.moveTo(this.offset + moved);
  }

  /** Show the rows from an offset on. */
  moveTo(offset: number): void {
    this.offset = Math.min(Math.max(offset, 0), this.mostOffset);
    this.settle();
  }

  /** Have a row in view, with as little movement as that takes. */
  reveal(row: number): void {
    const top = row * this.rowHeight;
    if (top < this.offset) this.moveTo(top);
    else if (top + this.rowHeight > this.offset + this.view) this.moveTo(top + this.rowHeight - this.view);
  }

  /** Follow the scrollbar to where the user has moved it. */
  scroll(scrollTop: number): void {
    const step = scrollTop - this.scrollTop;
    if (step === 0) return;
    const isSmall = Math.abs(step) <= SMALL_VIEWS * Math.max(this.view, this.rowHeight);
    this.scrollTop = scrollTop;
    const isAtEnd = scrollTop <= 0 || scrollTop >= this.mostScroll;
    if (!isSmall && isAtEnd) this.offset = scrollTop <= 0 ? 0 : this.mostOffset;
    else this.offset += isSmall ? step : step * this.scale;
    this.offset = Math.min(Math.max(this.offset, 0), this.mostOffset);
    // The scrollbar has come to its end before the rows have.
    if (isAtEnd) this.settle();
    else this.change();
  }

  /** Move the scrollbar to the rows that are shown, which small steps have taken apart. */
  settle(): void {
    const place = Math.round(this.offset / this.scale);
    const isBetween = this.offset > 0 && this.offset < this.mostOffset && this.mostScroll > 2;
    this.scrollTop = isBetween ? Math.min(Math.max(place, 1), this.mostScroll - 1) : place;
    if (this.scale === 1) this.scrollTop = this.offset;
    this.change();
  }

  private get mostScroll(): number {
    return Math.max(this.height - this.view, 0);
  }

  private get mostOffset(): number {
    return Math.max(this.count * this.rowHeight - this.view, 0);
  }

  private get scale(): number {
    return this.mostOffset > this.mostScroll && this.mostScroll > 0 ? this.mostOffset / this.mostScroll : 1;
  }

  private change(): void {
    this.version += 1;
    for (const listener of this.listeners) listener();
  }
}
