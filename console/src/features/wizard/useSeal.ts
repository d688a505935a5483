import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { getTransfer } from "../../upload";
import { keep, type Kept } from "./kept";
import { areClear, findCandidates } from "./LoadFiles";
import { stamp } from "./options";
import type { Draft } from "./queries";
import { cancelImport, readVolume, sealVolume } from "./requests";
import { listHeld } from "./states";
import { useTransfer } from "./TransferLine";
import type { Choice } from "./useDraftOptions";

/**
 * Have the server list a volume once all of it has arrived; its imports are then held.
 *
 * That happens by itself if the load files are clear, else when the user has chosen them (`apply`).
 */
export function useSeal(draft: Draft | null, kept: Kept, choice: Choice) {
  const queries = useQueryClient();
  const volume = draft?.volume ?? null;
  const place = draft?.place ?? "";
  const isSent = useTransfer(getTransfer(place))?.status === "done";
  const seal = useMutation({
    mutationFn: async (key: string) => {
      // Imports that are held with other load files would stay beside the new ones.
      const { imports } = await readVolume(volume!.id);
      for (const each of listHeld(imports)) await cancelImport(each, crypto.randomUUID());
      const { loadFile, imageLoadFile } = kept;
      const { options, profile } = choice;
      await sealVolume(volume!.id, { loadFile, imageLoadFile, options, profile }, key);
      keep(place, { saved: stamp(options, profile), savedVersion: 1 });
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["draft-volume", volume?.id] }),
  });
  const isClear = areClear(findCandidates(draft, kept.thing), kept, kept.thing);
  const isReady = volume?.status === "open" && isSent && isClear && seal.isIdle;
  useEffect(() => {
    if (isReady) seal.mutate(crypto.randomUUID());
  }, [isReady]);
  return {
    apply: () => seal.mutate(crypto.randomUUID()),
    isPending: seal.isPending,
    error: seal.error,
    isClear,
    /** Whether the bytes are there, and only the choice of load files is missing. */
    isSent,
  };
}
