import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { Schemas } from "../../api/client";
import { Failure } from "../../ui/Failure";
import { buildCrosswalk } from "./download/crosswalk";
import { saveBlob } from "../../ui/save";

/** Which control number has which numbers, as the file that the command writes. */
export function Crosswalk({ production }: { production: Schemas["Production"] }) {
  const [rows, setRows] = useState(0);
  const leaving = useRef<AbortController>(null);
  useEffect(() => {
    const controller = (leaving.current = new AbortController());
    return () => controller.abort();
  }, []);
  const build = useMutation({
    mutationFn: async () => {
      const file = await buildCrosswalk(production.id, leaving.current!.signal, setRows);
      saveBlob(`production ${production.id} - crosswalk.csv`, file);
    },
  });
  return (
    <>
      <button type="button" disabled={build.isPending} onClick={() => build.mutate()}>
        {build.isPending ? `Crosswalk: ${rows.toLocaleString()} documents…` : "Crosswalk (CSV)"}
      </button>
      {build.isError && <Failure error={build.error} again={() => build.mutate()} isByHand />}
    </>
  );
}
