// What an upload needs of the browser: the network, a clock, whether there is a connection and a session.
import { getToken, subscribe as subscribeToSession } from "../auth/session";
import { send, type Send } from "./put";

export interface Environment {
  send: Send;
  /** Call after some milliseconds; returns how to prevent it. */
  after(ms: number, call: () => void): () => void;
  now(): number;
  isOnline(): boolean;
  isSignedIn(): boolean;
  /** Call when the connection, or the session, may be back; returns how to stop that. */
  onOnline(call: () => void): () => void;
  onSession(call: () => void): () => void;
  /** Whether the browser asks before it leaves the page. */
  guardPage(isGuarded: boolean): void;
}

const ask = (event: Event) => event.preventDefault();

export const browser: Environment = {
  send,
  after(ms, call) {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
  now: () => performance.now(),
  isOnline: () => navigator.onLine,
  isSignedIn: () => getToken() !== null,
  onOnline(call) {
    addEventListener("online", call);
    return () => removeEventListener("online", call);
  },
  onSession: subscribeToSession,
  guardPage: (isGuarded) => (isGuarded ? addEventListener : removeEventListener)("beforeunload", ask),
};
