import { useQuery } from "@tanstack/react-query";
import { useSession } from "../auth/session";
import { api, data } from "./client";

/** Who is signed in, with role and limits. */
export function useMe() {
  const session = useSession();
  const person = session.state === "signed-in" || session.state === "expired" ? session.person : null;
  return useQuery({
    queryKey: ["me", person],
    queryFn: async ({ signal }) => data(await api.GET("/me", { signal })),
  });
}

/** Whether the user may import: undefined until it is known. */
export function useCanImport(): boolean | undefined {
  const me = useMe();
  return me.data && me.data.role !== "viewer" && me.data.role !== null;
}
