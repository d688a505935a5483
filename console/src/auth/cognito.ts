// Sign-in by Cognito's hosted page: authorization code with PKCE (RFC 7636). Between the redirect and its answer the
// verifier and the place to return to are in sessionStorage, under the random `state`; tokens never are.
import { send } from "../api/reach";

export interface HostedPage {
  domain: string;
  clientId: string;
  redirect: string;
}

export interface Tokens {
  idToken: string;
  refreshToken: string | null;
  expiresIn: number;
}

/** The hosted page has refused a code or a token. */
export class RefusedError extends Error {}

/** Leave for the hosted page. The browser comes back to `redirect`, and from there to the present address. */
export async function leaveForSignIn({ domain, clientId, redirect }: HostedPage): Promise<void> {
  const [verifier, state] = [makeRandom(), makeRandom()];
  const back = location.pathname + location.search;
  sessionStorage.setItem(`sign-in:${state}`, JSON.stringify({ verifier, back }));
  const challenge = toBase64Url(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier)));
  const query = new URLSearchParams({
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirect,
    scope: "openid email profile",
    state,
    code_challenge: challenge,
    code_challenge_method: "S256",
  });
  location.assign(`${domain}/oauth2/authorize?${query}`);
}

export function leaveForSignOut({ domain, clientId, redirect }: HostedPage): void {
  location.assign(`${domain}/logout?${new URLSearchParams({ client_id: clientId, logout_uri: redirect })}`);
}

/**
 * Return the tokens if the hosted page has sent the browser here, else null. An answer with the `state` of another window
 * is refused, and nothing of it is shown: anyone can write such a link.
 */
export async function finishSignIn(page: HostedPage): Promise<Tokens | null> {
  const answer = new URLSearchParams(location.search);
  const [code, state, fault] = [answer.get("code"), answer.get("state"), answer.get("error")];
  if (fault === null && (!code || !state)) return null;
  const kept = sessionStorage.getItem(`sign-in:${state}`);
  sessionStorage.removeItem(`sign-in:${state}`);
  const begun = kept ? (JSON.parse(kept) as { verifier: string; back: string }) : null;
  // Without the answer in its address, a reload begins another sign-in.
  history.replaceState(null, "", begun?.back ?? "/console/");
  if (!begun) throw new Error("This sign-in was not started in this window. Reload the page to sign in.");
  if (fault !== null) {
    const reason = answer.get("error_description") ?? fault;
    throw new Error(`The sign-in failed (${reason}). Reload the page to sign in again.`);
  }
  return exchange(page, {
    grant_type: "authorization_code",
    code: code!,
    code_verifier: begun.verifier,
    redirect_uri: page.redirect,
  });
}

export const refresh = (page: HostedPage, token: string) =>
  exchange(page, { grant_type: "refresh_token", refresh_token: token });

async function exchange({ domain, clientId }: HostedPage, grant: Record<string, string>): Promise<Tokens> {
  const body = new URLSearchParams({ client_id: clientId, ...grant });
  const response = await send(`${domain}/oauth2/token`, { method: "POST", body });
  const message = `The sign-in failed (${response.status}). Reload the page to sign in again.`;
  if (!response.ok) throw response.status < 500 ? new RefusedError(message) : new Error(message);
  const { id_token, refresh_token, expires_in } = (await response.json()) as {
    id_token: string;
    refresh_token?: string;
    expires_in: number;
  };
  return { idToken: id_token, refreshToken: refresh_token ?? null, expiresIn: expires_in };
}

const makeRandom = () => toBase64Url(crypto.getRandomValues(new Uint8Array(32)).buffer);

function toBase64Url(bytes: ArrayBuffer): string {
  const text = btoa(String.fromCharCode(...new Uint8Array(bytes)));
  return text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}
