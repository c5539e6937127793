import type { ReconcileContext } from "konverge";
import { Secret } from "konverge/kinds";
import { sleep } from "konverge/time";
import { TOKEN_KEY, tokenSecretName } from "./ray-auth.ts";
import type { RayCluster } from "./ray-cluster.ts";

/** How the operator reaches the head of a cluster: `fetch`, or what stands in for it in tests and in other networks. */
export type RayFetch = (url: string, init: RequestInit) => Promise<Response>;

/** Milliseconds that a dashboard has to answer. */
const TIMEOUT = 10_000;
const LONGEST_MESSAGE = 1_000;

/** A dashboard that refused a request. */
export class DashboardError extends Error {
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

export interface DashboardRequest {
  readonly method: "GET" | "PUT" | "POST";
  readonly url: string;
  readonly body?: unknown;
  /** The cluster whose token is sent. */
  readonly cluster?: RayCluster;
  readonly timeout?: number;
}

/** Sends a request to a dashboard, and returns what it answers. */
export async function dashboardRequest(
  fetch: RayFetch,
  { method, url, body, cluster, timeout = TIMEOUT }: DashboardRequest,
  context: ReconcileContext,
): Promise<string> {
  const token = cluster && (await tokenOf(cluster, context));
  const headers = {
    ...(body !== undefined && { "content-type": "application/json" }),
    ...(token && { authorization: `Bearer ${token}` }),
  };
  return context.callExternal(`${method} ${url}`, async () => {
    const over = new AbortController();
    const late = sleep(context.clock, timeout, { signal: over.signal, label: `${method} ${url}` }).then(
      () => undefined,
      () => undefined,
    );
    const answer = answerOf(fetch, url, {
      method,
      signal: over.signal,
      ...(Object.keys(headers).length > 0 && { headers }),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    // An answer that comes too late is of no interest any more.
    answer.catch(() => undefined);
    try {
      const text = await Promise.race([answer, late]);
      if (text === undefined) throw new Error(`${method} ${url}: no answer within ${timeout / 1000} s`);
      return text;
    } finally {
      over.abort();
    }
  });
}

/** The Secret may be the user's, which no watch of this operator covers: it is read when it is needed. */
async function tokenOf(cluster: RayCluster, { client }: ReconcileContext): Promise<string | undefined> {
  const name = tokenSecretName(cluster);
  if (!name) return undefined;
  const key = `${cluster.metadata.namespace}/${name}`;
  const token = (await client.get(Secret, key)).data?.[TOKEN_KEY];
  if (!token) throw new Error(`Secret ${key} has no ${TOKEN_KEY}`);
  return Buffer.from(token, "base64").toString();
}

export const shortened = (text: string) =>
  text.length > LONGEST_MESSAGE ? `${text.slice(0, LONGEST_MESSAGE)}…` : text;

async function answerOf(fetch: RayFetch, url: string, init: RequestInit): Promise<string> {
  const response = await fetch(url, init).catch((error: unknown) => {
    throw new Error(`${init.method} ${url}: ${reasonOf(error)}`, { cause: error });
  });
  const text = await response.text();
  if (!response.ok)
    throw new DashboardError(`${init.method} ${url}: ${response.status} ${shortened(text.trim())}`, response.status);
  return text;
}

/** What `fetch` hides in the cause of its error. An error about several addresses has no message. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  const { message: reason, code = "" } = (cause instanceof Error ? cause : error) as NodeJS.ErrnoException;
  return reason || code || message;
}
