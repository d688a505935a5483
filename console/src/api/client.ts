import createClient, { type Middleware } from "openapi-fetch";
import { getToken, loseSession } from "../auth/session";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];

/** Why a request failed: the API's problem document, or what API Gateway says instead. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly problem: Partial<Schemas["Problem"]>,
    readonly requestId: string | null,
    /** How long the server says to wait before the request is repeated; 0 if it does not. */
    readonly retryAfterMs = 0,
  ) {
    super(
      problem.detail ??
        problem.title ??
        `The server answered ${status}. Try again; if that fails too, ask your administrator.`,
    );
  }

  /** The last part of the problem's type, such as `already-exists`; empty for an answer of API Gateway. */
  get code(): string {
    return (this.problem.type ?? "").split(":").at(-1) ?? "";
  }
}

async function toError(response: Response): Promise<ApiError> {
  const body = (await response
    .clone()
    .json()
    .catch(() => null)) as (Partial<Schemas["Problem"]> & { message?: string }) | null;
  const problem = body?.message ? { detail: body.message } : (body ?? {});
  const wait = Number(response.headers.get("Retry-After") ?? 0) * 1000;
  return new ApiError(response.status, problem, response.headers.get("apigw-requestid"), wait || 0);
}

const everyRequest: Middleware = {
  onRequest({ request }) {
    const token = getToken();
    if (token) request.headers.set("Authorization", `Bearer ${token}`);
    return request;
  },
  async onResponse({ request, response }) {
    if (response.ok || response.status === 304) return;
    if (response.status === 401) loseSession(request.headers.get("Authorization")?.replace(/^Bearer /, "") ?? null);
    throw await toError(response);
  },
};

/** Parameters that are repeated, because their values can have commas; the values of others are joined by them. */
const REPEATED = new Set(["custodian", "tag", "tagTree"]);

/** Return a query as the API reads it; what is undefined or null is left out. */
export function querySerializer(query: Record<string, unknown>): string {
  const written = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue;
    const values = Array.isArray(value) && REPEATED.has(name) ? value : [value];
    for (const each of values) written.append(name, String(each));
  }
  return written.toString().replaceAll("+", "%20");
}

/**
 * The API, at the origin of the page. A response without success is thrown as ApiError. Requests that change something
 * have an Idempotency-Key, made where the user decides: what is sent again with it takes effect once.
 */
export const api = createClient<paths>({ baseUrl: "", querySerializer });
api.use(everyRequest);

/** The data of a response, which is there unless the request failed. */
export function data<T>(result: { data?: T }): T {
  return result.data as T;
}
