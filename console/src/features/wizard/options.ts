// Changes of the options of an import, as a query and as they are stored. No React in it.
import type { Schemas } from "../../api/client";
import type { Kept, Options } from "./kept";
import { isField, type FieldName } from "./words";

type Column = Schemas["PreviewColumn"];
export type PreviewQuery = Record<string, string>;

/** Return the options without members that say nothing, so that two of the same meaning are equal. */
export function tidy(options: Options | null | undefined): Options {
  const kept = Object.entries(options ?? {}).filter(([name, value]) => {
    if (value === null || value === undefined || value === "") return false;
    if (name === "header") return value === false;
    return typeof value !== "object" || Object.keys(value).length > 0;
  });
  return Object.fromEntries(kept) as Options;
}

/** Return a text that is equal for equal choices. */
export function stamp(options: Options, profile: string | null): string {
  const sorted = Object.entries(tidy(options)).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([profile, sorted]);
}

/**
 * Map a column by its number: a name may come twice or be blank. An undefined field leaves it to its name again.
 *
 * Where a column is called by the number of this one, the number would mean that column, and the name has to do.
 */
export function mapColumn(options: Options, column: Column, field: FieldName | undefined, all: Column[]): Options {
  const columns = { ...options.columns };
  delete columns[column.name];
  delete columns[String(column.number)];
  const isTaken = all.some(({ name }) => name === String(column.number));
  if (field !== undefined) columns[isTaken ? column.name : String(column.number)] = field;
  return tidy({ ...options, columns });
}

type Stored = Pick<Schemas["ImportDetails"], "options" | "optionsVersion" | "profile">;

/**
 * Return the options that count: those of this window, unless the server has others that were stored after them. What
 * is shown is then what is checked and run.
 */
export function chooseOptions(
  { options, profile, saved, savedVersion }: Pick<Kept, "options" | "profile" | "saved" | "savedVersion">,
  stored: Stored | null,
): { options: Options; profile: string | null; isChanged: boolean; isOwn: boolean } {
  const name = stored?.profile?.name ?? null;
  const own = profile === undefined ? name : profile;
  const isChanged = options !== null && stamp(options, own) !== saved;
  const isOutdated = !isChanged && savedVersion !== null && (stored?.optionsVersion ?? 0) > savedVersion;
  if (options === null || isOutdated)
    return { options: tidy(stored?.options), profile: isOutdated ? name : own, isChanged: false, isOwn: false };
  return { options, profile: own, isChanged, isOwn: true };
}

const HUGE = 2_000;

/** Return the columns that have all words in their name or field; of a huge file, the unmapped ones first. */
export function chooseColumns(columns: Column[], search: string, all: number): Column[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const text = (each: Column) => `${each.name} ${each.field?.replaceAll("_", " ") ?? "property"}`.toLowerCase();
  const shown = columns.filter((each) => words.every((word) => text(each).includes(word)));
  return all > HUGE ? [...shown].sort((a, b) => Number(a.field !== null) - Number(b.field !== null)) : shown;
}

const OBJECTS = ["columns", "dateOrder", "dateFormat"] as const;
const TEXTS = [
  "encoding",
  "delimiter",
  "qualifier",
  "newline",
  "headerLine",
  "cells",
  "lineEnds",
  "timeZone",
  "multiValueSeparator",
  "nestedSeparator",
] as const;

/** Return the query of a preview with these options. */
export function toQuery(options: Options, profile: string | null | undefined): PreviewQuery {
  const query: PreviewQuery = {};
  for (const name of TEXTS) if (options[name] != null) query[name] = String(options[name]);
  for (const name of OBJECTS) {
    const value = options[name];
    if (value != null) query[name] = typeof value === "string" ? value : JSON.stringify(value);
  }
  if (options.header === false) query.header = "false";
  if (profile) query.profile = profile;
  return query;
}

/** Return the options of a profile: those that are given, and the columns as they were decided, by their names. */
export function toProfile(options: Options, columns: Column[]): Schemas["Options"] {
  const { volume: _volume, columns: _columns, ...rest } = options;
  const names = new Map<string, number>();
  for (const { name } of columns) names.set(name, (names.get(name) ?? 0) + 1);
  const decided = columns
    .filter((each) => (each.field !== null ? isField(each.field) : each.why === "given"))
    .map((each) => [
      names.get(each.name) === 1 && each.name.trim() ? each.name : String(each.number),
      (each.field ?? "property") as FieldName,
    ]);
  return { ...rest, columns: Object.fromEntries(decided) as Record<string, FieldName> };
}

/** Sends the newest options one after the other, so that each has the version that the one before it made. */
export class Saver {
  private next: { options: Options; profile: string | null } | null = null;
  private running: Promise<void> | null = null;

  constructor(
    private version: number,
    private readonly put: (options: Options, profile: string | null, version: number) => Promise<number>,
  ) {}

  /** Resolves once these options, or later ones, are stored; rejects with the fault of the last attempt. */
  save(options: Options, profile: string | null): Promise<void> {
    this.next = { options, profile };
    this.running ??= this.run().finally(() => (this.running = null));
    return this.running;
  }

  /** Note the version of options that were read and are shown, on which the next ones are based. */
  see(version: number): void {
    if (!this.running) this.version = Math.max(this.version, version);
  }

  /** The version that the server has after everything that was saved. */
  async settle(): Promise<number> {
    await this.running;
    return this.version;
  }

  private async run(): Promise<void> {
    while (this.next) {
      const { options, profile } = this.next;
      this.next = null;
      this.version = await this.put(options, profile, this.version);
    }
  }
}
