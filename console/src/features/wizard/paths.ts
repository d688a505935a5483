// Which file of a folder a path of its load file means, by the rules of docs/load-files.md, while the user types a
// prefix. It is an example: the check decides, with all rows and the files that arrived. No React in it.

export interface PathSettings {
  stripPrefix: string[];
  addPrefix: string;
}

export type Resolved =
  | { result: "found"; file: string; rule: number }
  | { result: "missing"; elsewhere: string | null }
  | { result: "ambiguous" }
  | { result: "refused" };

const LEADING = /^(\.\/|\/)+/;
const OUTSIDE = /^([a-z]:|[a-z][a-z0-9+.-]*:\/\/|\/\/)/i;
const MOST_BESIDE = 32;

const fold = (path: string) => path.normalize("NFC").toLowerCase();
const folderOf = (path: string) => path.slice(0, path.lastIndexOf("/") + 1);

/** The files of a folder or zip, prepared once for many paths. */
export class VolumeFiles {
  readonly root: string;
  private readonly exact: Set<string>;
  private readonly folded = new Map<string, string[]>();
  private readonly names = new Map<string, string>();

  constructor(
    paths: string[],
    private readonly volume: string,
    private readonly loadFile: string,
  ) {
    this.exact = new Set(paths);
    for (const path of paths) {
      this.folded.set(fold(path), [...(this.folded.get(fold(path)) ?? []), path]);
      this.names.set(fold(path.slice(folderOf(path).length)), path);
    }
    const top = loadFile.slice(0, loadFile.indexOf("/") + 1);
    const below = paths.filter((path) => path.startsWith(top)).length;
    this.root = top && fold(top) !== "data/" && below * 2 > paths.length ? top : "";
  }

  resolve(written: string, settings: PathSettings): Resolved {
    const isShare = /^\\\\[^\\]/.test(written.trim()) && !/\\\\.*\\\\/.test(written.trim().slice(2));
    const slashed = written
      .trim()
      .replaceAll("\\", "/")
      .replace(/(?<!:)\/{2,}/g, (found, at: number) => (at === 0 && isShare ? found : "/"));
    const [path, isStripped] = this.strip(slashed.replace(isShare ? /^$/ : LEADING, ""), settings.stripPrefix);
    if (OUTSIDE.test(path) || path.split("/").includes("..")) return { result: "refused" };
    const places = this.list(path, settings.addPrefix, isStripped);
    for (const [rule, place] of places) if (this.exact.has(place)) return { result: "found", file: place, rule };
    return this.findFolded(places) ?? this.findBeside(path) ?? this.findName(path);
  }

  private strip(path: string, prefixes: string[]): [string, boolean] {
    const cleaned = prefixes.map((each) => each.replaceAll("\\", "/").replace(/\/+$/, "")).filter(Boolean);
    const longest = cleaned
      .filter((each) => fold(path).startsWith(`${fold(each)}/`) || fold(`/${path}`).startsWith(`${fold(each)}/`))
      .sort((a, b) => b.length - a.length)[0];
    if (longest === undefined) return [path, false];
    const from = fold(path).startsWith(`${fold(longest)}/`) ? path : `/${path}`;
    return [from.slice(longest.length).replace(LEADING, ""), true];
  }

  /** The places where a path is looked for, each with its rule, in the order of the rules. */
  private list(path: string, addPrefix: string, isStripped: boolean): [number, string][] {
    const places: [number, string][] = [];
    const folder = addPrefix.replaceAll("\\", "/").replace(/^\/+|\/+$/g, "");
    if (folder) places.push([7, `${this.root}${folder}/${path}`], [7, `${folder}/${path}`]);
    places.push([isStripped ? 2 : 3, this.root + path]);
    const [first, rest] = [path.slice(0, path.indexOf("/")), path.slice(path.indexOf("/") + 1)];
    const isTop = fold(first) === fold(this.volume) || `${fold(first)}/` === fold(this.root);
    if (first && isTop) places.push([4, this.root + rest]);
    places.push([5, folderOf(this.loadFile) + path]);
    return places;
  }

  private findFolded(places: [number, string][]): Resolved | null {
    for (const [, place] of places) {
      const found = this.folded.get(fold(place)) ?? [];
      if (found.length > 1) return { result: "ambiguous" };
      if (found.length === 1) return { result: "found", file: found[0]!, rule: 6 };
    }
    return null;
  }

  private findBeside(path: string): Resolved | null {
    const own = folderOf(this.loadFile);
    const base = fold(own).endsWith("data/") ? folderOf(own.slice(0, -1)) : own;
    const beside = new Set<string>();
    for (const each of this.exact) {
      const next = each.startsWith(base) ? each.slice(base.length) : "";
      if (next.includes("/")) beside.add(base + next.slice(0, next.indexOf("/") + 1));
      if (beside.size > MOST_BESIDE) return null;
    }
    const found = [...beside].map((folder) => folder + path).filter((place) => this.exact.has(place));
    if (found.length > 1) return { result: "ambiguous" };
    return found.length === 1 ? { result: "found", file: found[0]!, rule: 9 } : null;
  }

  private findName(path: string): Resolved {
    return { result: "missing", elsewhere: this.names.get(fold(path.slice(folderOf(path).length))) ?? null };
  }
}
