import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { ApiError } from "../../api/client";
import { keep, type Kept, type Options } from "./kept";
import { chooseOptions, Saver, stamp, tidy } from "./options";
import type { Draft } from "./queries";
import { checkImport, putOptions } from "./requests";

/** The options of a draft: what the user has chosen last, and whether the server has it. */
export interface Choice {
  options: Options;
  profile: string | null;
  change: (options: Options, profile?: string | null) => void;
  isSaved: boolean;
  fault: unknown;
  /** Try again what failed; after a change by another user, with what they chose and without what was not stored. */
  again: () => void;
}

/**
 * Keep the options on the server whenever the draft has an import there, and have it checked once the user wishes it.
 *
 * Both follow from what is kept, so that neither depends on where the upload is when the user clicks.
 */
export function useDraftOptions(draft: Draft | null, place: string, kept: Kept): Choice {
  const queries = useQueryClient();
  const rows = draft?.rows ?? null;
  const { options, profile, isChanged, isOwn } = chooseOptions(kept, rows);
  const [fault, setFault] = useState<unknown>(null);
  const [round, setRound] = useState(0);
  const version = useRef(1);
  // What was read may be older than what this window has stored: the user has left the page before it was read again.
  version.current = Math.max(version.current, kept.savedVersion ?? 1, rows?.optionsVersion ?? 1);
  const rowsId = rows?.id ?? null;
  const saver = useMemo(
    () => new Saver(version.current, (chosen, name, seen) => putOptions(rowsId!, chosen, name, seen)),
    // A new one begins with the version that was read after a conflict.
    [rowsId, round],
  );
  if (!isOwn && rows !== null) saver.see(rows.optionsVersion);
  const canSave = rows?.actions.includes("options") ?? false;
  const refresh = () => queries.invalidateQueries({ queryKey: ["draft-import", rowsId] });

  useEffect(() => {
    if (!isChanged || !canSave || fault) return;
    const stored = stamp(options, profile);
    saver.save(options, profile).then(
      async () => {
        keep(place, { saved: stored, savedVersion: await saver.settle() });
        void refresh();
      },
      (error: unknown) => setFault(error),
    );
  }, [isChanged, canSave, fault, stamp(options, profile), saver]);

  const canCheck = rows?.actions.includes("check") ?? false;
  const isRead = rows !== null && (!isChanged || !canSave);
  useEffect(() => {
    if (!kept.wantsCheck || !canCheck || !isRead || fault) return;
    const key = kept.wantsCheck;
    keep(place, { wantsCheck: null });
    saver
      .settle()
      .then((seen) => checkImport(rows!.id, seen, key))
      .catch((error: unknown) => setFault(error))
      .finally(() => void refresh());
  }, [kept.wantsCheck, canCheck, isRead, fault, saver]);

  return {
    options,
    profile,
    isSaved: !isChanged,
    fault,
    change: (next, name = profile) => {
      setFault(null);
      keep(place, { options: tidy(next), profile: name });
    },
    again: () => {
      if (!(fault instanceof ApiError && fault.status === 412)) return setFault(null);
      keep(place, { options: null, profile: undefined, saved: null });
      void refresh().then(() => {
        setFault(null);
        setRound((before) => before + 1);
      });
    },
  };
}
