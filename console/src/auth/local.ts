// Sign-in on this machine: the key of the link that `make local` prints is exchanged for a token. The server keeps a
// cookie that no script reads, so that a reload needs no key. The choice of user and role is kept for this window.
import { send } from "../api/reach";

export interface Person {
  tenant: string;
  user: string;
  role: "viewer" | "editor" | "admin";
}

const PERSON = "person";
const FIRST: Person = { tenant: "local", user: "me", role: "admin" };

/** Remove the key from the address and return it; empty if there is none. */
export function takeKey(): string {
  const key = new URLSearchParams(location.hash.slice(1)).get("key") ?? "";
  if (key) history.replaceState(null, "", location.pathname + location.search);
  return key;
}

export function keptPerson(): Person {
  const kept = sessionStorage.getItem(PERSON);
  return kept ? (JSON.parse(kept) as Person) : FIRST;
}

export function keepPerson(person: Person): void {
  sessionStorage.setItem(PERSON, JSON.stringify(person));
}

export async function exchangeKey(person: Person, key: string): Promise<{ idToken: string; expiresIn: number }> {
  const response = await send("/console/token", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ ...person, key }),
  });
  if (response.status === 401)
    throw new Error("Open the link that `make local` printed: it has the key of this session.");
  if (!response.ok)
    throw new Error(`The sign-in was refused (${response.status}). Open the link that \`make local\` printed.`);
  return (await response.json()) as { idToken: string; expiresIn: number };
}
