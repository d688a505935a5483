import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ApiError, api, data } from "../../api/client";
import { formatLocal, readTime } from "./times";
import { Holder, nameHolder, Times } from "./words";
import { Untrusted } from "../../ui/Untrusted";
import type { Period } from "./segments";

/** The part of a request that conflicts: when the period would begin, and when it would end. */
export interface Requested {
  begin: string;
  end: string | null;
}

/** How many periods that are in the way are listed. */
export const LISTED = 5;

/** Whether recorded periods are in the way. */
export const isConflict = (error: unknown): error is ApiError =>
  error instanceof ApiError && (error.code === "overlap" || error.code === "wrong-state");

/** The recorded periods that overlap the requested time, as they are now. */
export function useInTheWay(deviceId: number, requested: Requested | null) {
  return useQuery({
    queryKey: ["custody", deviceId, "in-the-way", requested],
    enabled: requested !== null,
    queryFn: async ({ signal }) => {
      const bounds = { from: requested!.begin, ...(requested!.end === null ? {} : { to: requested!.end }) };
      const query = { deviceId, limit: LISTED + 1, ...bounds };
      return data(await api.GET("/custody-periods", { params: { query }, signal })).items;
    },
  });
}

interface ConflictsProps {
  requested: Requested;
  found: Period[];
  /** What can be done about a period that is in the way. */
  cure: (period: Period) => ReactNode;
}

/** What is in the way, drawn in red below what was requested, and in words with what to do. */
export function Conflicts({ requested, found, cure }: ConflictsProps) {
  const shown = found.slice(0, LISTED);
  return (
    <>
      <Drawing requested={requested} found={shown} />
      <ul className="conflicts">
        {shown.map((each) => (
          <li key={each.id}>
            <Holder period={each} />, <Times period={each} />
            <span className="cures">{cure(each)}</span>
          </li>
        ))}
      </ul>
      {found.length > LISTED && <p>There are more periods in the way after these.</p>}
    </>
  );
}

function Drawing({ requested, found }: { requested: Requested; found: Period[] }) {
  const times = [requested, ...found].flatMap((each) => [each.begin, each.end ?? each.begin].map(readTime));
  const from = Math.min(...times);
  const last = Math.max(...times);
  // What has no end goes to the edge.
  const to = last + Math.max((last - from) * 0.25, 60_000);
  const place = (each: Requested) => {
    const [begin, end] = [readTime(each.begin), each.end === null ? to : readTime(each.end)];
    return { left: `${(100 * (begin - from)) / (to - from)}%`, width: `${(100 * (end - begin)) / (to - from)}%` };
  };
  return (
    <div className="drawing" aria-hidden="true">
      <div className="row">
        <span className="requested" style={place(requested)}>
          yours
        </span>
      </div>
      <div className="row">
        {found.map((each) => (
          <span key={each.id} className="in-the-way" style={place(each)}>
            <Untrusted text={nameHolder(each)} />
          </span>
        ))}
      </div>
      <div className="ends">
        <span>{formatLocal(from)}</span>
        <span>{formatLocal(last)}</span>
      </div>
    </div>
  );
}
