// A production that is being prepared. It lives in the address alone: a reload, and a link, have it again.
import type { Schemas } from "../../api/client";
import { count } from "../../ui/values";
import { readFilters, readLines, toRequest, type Selection } from "./selection";

type NewProduction = Schemas["NewProduction"];
type Check = Schemas["ProductionCheck"];
export type Numbering = "page" | "document";

export interface Draft {
  selection: Selection;
  families: boolean;
  prefix: string;
  /** Digits and first number of a prefix that the case does not use yet. */
  digits: number;
  start: number | null;
  /** Null: a number for each page where documents have pages. */
  numbering: Numbering | null;
  slipSheets: boolean;
  /** Empty: the next volume of the case. */
  volume: string;
  columns: string[];
}

export const [DIGITS, MAX_DIGITS, MAX_CHOSEN] = [7, 12, 10_000];
const PREFIX = /^[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z_-])?$/;
const VOLUME = /^[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?$/;
// A longer address is not accepted by every server; what follows its # is never sent to one.
const LONGEST_SENT = 2_000;
const JOINT = "\n";

const readId = (text: string | null, most = Number.MAX_SAFE_INTEGER): number | null =>
  text !== null && /^[0-9]{1,16}$/.test(text) && Number(text) >= 1 && Number(text) <= most ? Number(text) : null;

/** Return the draft that an address has; what it does not have, or what cannot be, is as at the beginning. */
export function readDraft(search: string, hash: string): Draft {
  const address = new URLSearchParams(search);
  const longer = new URLSearchParams(hash.replace(/^#/, ""));
  const get = (name: string) => longer.get(name) ?? address.get(name);
  const numbering = address.get("numbering");
  return {
    selection: readSelection(address, get("ids"), get("numbers")),
    families: address.get("families") === "1",
    prefix: address.get("prefix") ?? "",
    digits: readId(address.get("digits"), MAX_DIGITS) ?? DIGITS,
    start: readId(address.get("start")),
    numbering: numbering === "page" || numbering === "document" ? numbering : null,
    slipSheets: address.get("slips") === "1" && numbering !== "document",
    volume: address.get("volume") ?? "",
    columns: address.getAll("column").filter(Boolean),
  };
}

function readSelection(address: URLSearchParams, ids: string | null, numbers: string | null): Selection {
  if (ids !== null) {
    const read = ids.split(",").flatMap((each) => readId(each.trim()) ?? []);
    return { way: "ids", ids: [...new Set(read)].sort((one, other) => one - other) };
  }
  if (numbers !== null) return { way: "numbers", numbers: readLines(numbers) };
  if (address.get("all") === "1") return { way: "all" };
  return { way: "filters", filters: readFilters(address) };
}

/** Return the address of a draft, from its `?` on. */
export function writeDraft(draft: Draft): string {
  const [address, longer] = [new URLSearchParams(), new URLSearchParams()];
  const { selection } = draft;
  const addLong = (name: string, value: string) => (value.length > LONGEST_SENT ? longer : address).set(name, value);
  if (selection.way === "all") address.set("all", "1");
  if (selection.way === "ids") addLong("ids", selection.ids.join(","));
  if (selection.way === "numbers") addLong("numbers", selection.numbers.join(JOINT));
  if (selection.way === "filters")
    for (const [name, values] of Object.entries(selection.filters))
      for (const each of values) address.append(name, each);
  if (draft.families) address.set("families", "1");
  if (draft.prefix) address.set("prefix", draft.prefix);
  if (draft.digits !== DIGITS) address.set("digits", String(draft.digits));
  if (draft.start !== null) address.set("start", String(draft.start));
  if (draft.numbering) address.set("numbering", draft.numbering);
  if (draft.slipSheets) address.set("slips", "1");
  if (draft.volume) address.set("volume", draft.volume);
  for (const each of draft.columns) address.append("column", each);
  const [query, fragment] = [address.toString(), longer.toString()];
  return `${query && `?${query}`}${fragment && `#${fragment}`}`;
}

/** Why a prefix or the name of a volume cannot be used; null if it can. */
export const faultOfPrefix = (prefix: string): string | null =>
  PREFIX.test(prefix) && prefix.length <= 64
    ? null
    : "A prefix has letters, digits, - and _, begins with a letter or digit, and does not end in a digit: SMITH, ABC-.";
export const faultOfVolume = (volume: string): string | null =>
  VOLUME.test(volume) && volume.length <= 64
    ? null
    : "A volume is named by letters, digits, - and _, and begins and ends with a letter or digit: VOL001.";

/** What the case says: its name, its next volume, and the prefix if it is in use. */
export interface Known {
  caseName: string;
  volume: string;
  prefix: Schemas["BatesPrefix"] | undefined;
}

/** Return the request of a draft without its numbering; null as long as something is not chosen or cannot be. */
export function toBody(draft: Draft, known: Known): NewProduction | null {
  const selected = toRequest(draft.selection);
  const volume = draft.volume || known.volume;
  if (!selected || faultOfPrefix(draft.prefix) || faultOfVolume(volume)) return null;
  const { prefix } = known;
  return {
    case: known.caseName,
    volume,
    prefix: draft.prefix,
    digits: prefix?.digits ?? draft.digits,
    ...selected,
    ...(draft.families && { includeFamilies: true }),
    ...(draft.columns.length && { properties: draft.columns }),
    ...(!prefix && draft.start !== null && { startAt: draft.start }),
  };
}

/** Return the request that gets exactly the numbers that were checked, or is refused: others may take them meanwhile. */
export function bindNumbers(body: NewProduction, check: Check): NewProduction {
  return check.firstBates === null ? body : { ...body, startAt: Number(check.firstBates.slice(body.prefix.length)) };
}

/** What the button does, in numbers. The last one is expected where images are counted when numbers are reserved. */
export function labelProduce(check: Check): string {
  const documents = count(check.documents, "document");
  const { firstBates, lastBates, expectedLastBates } = check;
  if (lastBates === null && expectedLastBates === null) return `Produce ${documents} from ${firstBates} on`;
  if (lastBates === null) return `Produce ${documents} as ${firstBates} to ${expectedLastBates} (expected)`;
  return `Produce ${documents} as ${firstBates === lastBates ? firstBates : `${firstBates} to ${lastBates}`}`;
}
