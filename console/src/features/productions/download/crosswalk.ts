// Which control number has which production numbers, as the command writes it for Excel, byte for byte.
import { api, data, type Schemas } from "../../../api/client";
import { repeat } from "../../../api/repeat";

type Produced = Schemas["ProducedDocument"];

const MOST = 500;
const COLUMNS = ["control_number", "first_number", "last_number", "pages", "status"];
const MARK = "\ufeff";

/** Return the file; `onRows` gets how many documents are in it. */
export async function buildCrosswalk(
  productionId: number,
  signal: AbortSignal,
  onRows: (count: number) => void,
): Promise<Blob> {
  const parts = [MARK + formatRow(COLUMNS)];
  let [rows, after]: [number, string | undefined] = [0, undefined];
  do {
    const params = { path: { productionId }, query: { limit: MOST, after } };
    const page: Schemas["ProducedDocumentPage"] = await repeat(async () =>
      data(await api.GET("/productions/{productionId}/documents", { params, signal })),
    );
    parts.push(page.items.map(formatDocument).join(""));
    rows += page.items.length;
    onRows(rows);
    after = page.next ?? undefined;
  } while (after !== undefined);
  return new Blob(parts, { type: "text/csv;charset=utf-8" });
}

export const formatDocument = (each: Produced): string =>
  formatRow([each.controlNumber, each.batesBegin, each.batesEnd, each.pages, each.status].map(neutralize));

/** What a spreadsheet would evaluate begins with an apostrophe. */
const neutralize = (value: string | number | null): string => {
  const text = value === null ? "" : String(value);
  return /^[=+\-@\t\r\n\u0000＝＋－＠]/.test(text) ? `'${text}` : text;
};

const formatRow = (cells: string[]): string => `${cells.map(quote).join(",")}\r\n`;
const quote = (cell: string) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
