// Where a page is: in which area of the header, of which case, and what kind of page it is.

const KINDS = ["documents", "imports", "productions", "activity", "settings"] as const;

export interface Place {
  /** The case in the address. */
  caseId: number | null;
  /** The object that the page is about, which belongs to a case. */
  object: { type: "import" | "volume" | "production"; id: number } | null;
  /** The page of another case that is like this one. */
  kind: (typeof KINDS)[number];
}

const OBJECTS = [
  [/^\/imports\/(\d+)(?:\/|$)/, "import", "imports"],
  [/^\/import\/(\d+)(?:\/|$)/, "import", "imports"],
  [/^\/import\/volume\/(\d+)(?:\/|$)/, "volume", "imports"],
  [/^\/productions\/(\d+)(?:\/|$)/, "production", "productions"],
] as const;

/** Return where a path of the console leads. */
export function findPlace(path: string): Place {
  const ofCase = /^\/cases\/(\d+)(?:\/([a-z]+)|$)/.exec(path);
  if (ofCase)
    return {
      caseId: Number(ofCase[1]),
      object: null,
      kind: KINDS.find((each) => each === ofCase[2]) ?? "documents",
    };
  for (const [pattern, type, kind] of OBJECTS) {
    const found = pattern.exec(path);
    if (found) return { caseId: null, object: { type, id: Number(found[1]) }, kind };
  }
  return { caseId: null, object: null, kind: "documents" };
}

/** Return the path of a page of a case. */
export const pathIn = (caseId: number, kind: Place["kind"]): string => `/cases/${caseId}/${kind}`;
