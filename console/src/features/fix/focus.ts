// Where the focus goes in the sheet: from fault to fault, and from the edge of a cell's text to the next cell.

/** Focus the next (1) or the previous (-1) faulty cell, beginning again at the end; the button to import if there is none. */
export function focusNextFault(sheet: HTMLElement | null, direction: 1 | -1): void {
  const faults = [...(sheet?.querySelectorAll<HTMLElement>("[data-fault]") ?? [])];
  if (direction === -1) faults.reverse();
  const from = document.activeElement;
  const isAfter = direction === 1 ? Node.DOCUMENT_POSITION_FOLLOWING : Node.DOCUMENT_POSITION_PRECEDING;
  const next = faults.find((each) => from && sheet?.contains(from) && from.compareDocumentPosition(each) & isAfter);
  focusWhole(next ?? faults.find((each) => each !== from) ?? document.getElementById("import-corrected"));
}

function focusWhole(target: HTMLElement | null): void {
  target?.focus();
  if (target instanceof HTMLTextAreaElement) target.select();
}

/** Focus the cell with this place, such as `17:0`. */
export function focusCell(sheet: HTMLElement | null, place: string): void {
  sheet?.querySelector<HTMLElement>(`[data-cell="${CSS.escape(place)}"]`)?.focus();
}

const ONE_LINE_PX = 40;

/** Move to the neighbour of a cell if the cursor is at the edge of its text; returns whether it did. */
export function moveFromEdge(sheet: HTMLElement | null, cell: HTMLTextAreaElement, key: string): boolean {
  const isCollapsed = cell.selectionStart === cell.selectionEnd;
  const isOneLine = cell.clientHeight < ONE_LINE_PX && !cell.value.includes("\n");
  const atStart = isCollapsed && cell.selectionStart === 0;
  const atEnd = isCollapsed && cell.selectionEnd === cell.value.length;
  if (key === "ArrowRight" && atEnd) return moveTo(findInRow(cell, 1));
  if (key === "ArrowLeft" && atStart) return moveTo(findInRow(cell, -1));
  if (key === "ArrowDown" && (isOneLine || atEnd)) return moveTo(findInColumn(sheet, cell, 1));
  if (key === "ArrowUp" && (isOneLine || atStart)) return moveTo(findInColumn(sheet, cell, -1));
  return false;
}

function moveTo(target: HTMLElement | undefined): boolean {
  target?.focus();
  return target !== undefined;
}

function findInRow(cell: HTMLElement, by: number): HTMLElement | undefined {
  const cells = [...(cell.closest("tr")?.querySelectorAll<HTMLElement>("[data-cell]") ?? [])];
  return cells[cells.indexOf(cell) + by];
}

function findInColumn(sheet: HTMLElement | null, cell: HTMLElement, by: number): HTMLElement | undefined {
  const column = cell.dataset.cell?.split(":")[1];
  const cells = [...(sheet?.querySelectorAll<HTMLElement>(`[data-cell$=":${column}"]`) ?? [])];
  return cells[cells.indexOf(cell) + by];
}
