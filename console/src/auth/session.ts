// Who is signed in. Tokens live in the variables of this module alone: not in storage, not in an address.
import { useSyncExternalStore } from "react";
import { noteAnswer, noteMissing, send, UnansweredError, waitForNetwork } from "../api/reach";
import { finishSignIn, leaveForSignIn, leaveForSignOut, refresh, RefusedError, type HostedPage } from "./cognito";
import { exchangeKey, keepPerson, keptPerson, takeKey, type Person } from "./local";

export interface Config {
  signIn: { kind: "local" } | { kind: "none" | "issuer" } | { kind: "cognito"; domain: string; clientId: string };
  storage: string;
}

export type Session =
  | { state: "starting" }
  | { state: "signed-in"; config: Config; idToken: string; refreshToken: string | null; person: Person | null }
  | { state: "expired"; config: Config; refreshToken: string | null; person: Person | null }
  | { state: "signed-out"; config: Config | null; reason: string };

const EARLY_MS = 600_000;

let session: Session = { state: "starting" };
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

export const useSession = () => useSyncExternalStore(subscribe, () => session);

export function getToken(): string | null {
  return session.state === "signed-in" ? session.idToken : null;
}

/**
 * Sign in with what the address and the browser offer; a page that cannot becomes signed-out, with the reason. While no
 * server answers it goes on trying.
 */
export async function startSession(): Promise<void> {
  for (;;) {
    try {
      await signIn(await readConfig());
      return noteAnswer();
    } catch (error) {
      if (!(error instanceof UnansweredError)) throw error;
      noteMissing();
      await waitForNetwork();
    }
  }
}

async function readConfig(): Promise<Config> {
  const response = await send("/console/config.json");
  const config = response.ok ? ((await response.json().catch(() => null)) as Config | null) : null;
  // A proxy has answered for the server.
  if (config === null) throw new UnansweredError(`The configuration was not found (${response.status}).`);
  return config;
}

let key: string | null = null;

/** Throws UnansweredError alone. */
async function signIn(config: Config): Promise<void> {
  try {
    if (config.signIn.kind === "local") await signInLocally(config, keptPerson(), (key ??= takeKey()));
    else if (config.signIn.kind === "cognito") await signInByCognito(config, hostedPage(config));
    else
      change({
        state: "signed-out",
        config,
        reason:
          "This stack has no sign-in for the console. Ask its operator to deploy it with ConsoleOrigin and without " +
          "JwtIssuer, as docs/operations.md describes.",
      });
  } catch (error) {
    if (error instanceof UnansweredError) throw error;
    change({ state: "signed-out", config, reason: error instanceof Error ? error.message : String(error) });
  }
}

/** Become another user or role when the page is loaded anew, on this machine only; until then this session goes on. */
export async function become(person: Person): Promise<void> {
  await exchangeKey(person, "");
  keepPerson(person);
}

/**
 * Called when the server has refused this token: work goes on after the next sign-in, on the same page. The answer to a
 * request from before that sign-in says nothing of the new token.
 */
export function loseSession(token: string | null): void {
  if (session.state !== "signed-in" || session.idToken !== token) return;
  const { config, refreshToken, person } = session;
  change({ state: "expired", config, refreshToken, person });
}

/** Resolve when there is a session: at once, or after the next sign-in on this page. */
export async function untilSignedIn(): Promise<void> {
  while (getToken() === null)
    await new Promise<void>((resolve) => {
      const stop = subscribe(() => {
        stop();
        resolve();
      });
    });
}

/** Sign in again without leaving the page where that is possible. */
export async function renewSession(): Promise<void> {
  if (session.state !== "expired" && session.state !== "signed-in") return;
  const { config, refreshToken, person } = session;
  if (config.signIn.kind === "local") return signInLocally(config, person ?? keptPerson(), "");
  const page = hostedPage(config);
  if (!refreshToken) return leaveForSignIn(page);
  try {
    const tokens = await refresh(page, refreshToken);
    if (!isSignedOut()) accept(config, tokens, refreshToken);
  } catch (error) {
    // Without an answer the same can succeed later; a refused token never does.
    if (error instanceof RefusedError && session.state === "expired") return leaveForSignIn(page);
    throw error;
  }
}

export const isSignedOut = () => session.state === "signed-out";

export function signOut(): void {
  if (session.state !== "signed-in") return;
  const { config } = session;
  clearTimeout(timer);
  change({ state: "signed-out", config, reason: "You have signed out. Reload the page to sign in again." });
  if (config.signIn.kind === "cognito") leaveForSignOut(hostedPage(config));
}

async function signInLocally(config: Config, person: Person, key: string): Promise<void> {
  const { idToken, expiresIn } = await exchangeKey(person, key);
  if (isSignedOut()) return;
  keepPerson(person);
  change({ state: "signed-in", config, idToken, refreshToken: null, person });
  renewIn(expiresIn);
}

async function signInByCognito(config: Config, page: HostedPage): Promise<void> {
  const tokens = await finishSignIn(page);
  if (!tokens) return leaveForSignIn(page);
  accept(config, tokens, null);
}

function accept(
  config: Config,
  tokens: { idToken: string; refreshToken: string | null; expiresIn: number },
  earlier: string | null,
): void {
  const refreshToken = tokens.refreshToken ?? earlier;
  change({ state: "signed-in", config, idToken: tokens.idToken, refreshToken, person: null });
  if (refreshToken) renewIn(tokens.expiresIn);
}

function renewIn(seconds: number): void {
  clearTimeout(timer);
  timer = setTimeout(
    () => void renewSession().catch(() => loseSession(getToken())),
    Math.max(seconds * 1000 - EARLY_MS, 1000),
  );
}

function hostedPage(config: Config): HostedPage {
  if (config.signIn.kind !== "cognito") throw new Error("This stack has no hosted sign-in.");
  return { domain: config.signIn.domain, clientId: config.signIn.clientId, redirect: `${location.origin}/console/` };
}

function change(next: Session): void {
  session = next;
  for (const listener of listeners) listener();
}

export function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
