import type { ReconcileContext } from "konverge";
import { sleep } from "konverge/time";
import { dashboardAddress } from "./ray-children.ts";
import type { RayCluster } from "./ray-cluster.ts";

/** How the operator reaches the head of a cluster: `fetch`, or what stands in for it in tests and in other networks. */
export type RayFetch = (url: string, init: RequestInit) => Promise<Response>;

/** What Ray Serve reports about its applications, by their names. */
export type ServeApplications = Record<
  string,
  {
    status: string;
    message?: string;
    serveDeploymentStatuses?: Record<string, { status: string; message?: string }>;
  }
>;

/** Milliseconds that a dashboard has to answer, and to accept a configuration, before which it starts Ray Serve. */
const TIMEOUT = 10_000;
const DEPLOY_TIMEOUT = 60_000;
const PROBE_TIMEOUT = 2_000;
const LONGEST_MESSAGE = 1_000;

interface Reported {
  status?: string;
  message?: string;
  deployments?: Record<string, { status?: string; message?: string }>;
}

/** The applications of a cluster as they are now. */
export async function readApplications(
  fetch: RayFetch,
  cluster: RayCluster,
  context: ReconcileContext,
): Promise<ServeApplications> {
  const url = `${applicationsUrl(cluster)}?api_type=declarative`;
  const text = await request(fetch, "GET", url, undefined, context);
  const { applications = {} } = JSON.parse(text) as { applications?: Record<string, Reported> };
  return Object.fromEntries(
    Object.entries(applications).map(([name, { status = "", message, deployments = {} }]) => [
      name || "default",
      {
        status,
        ...(message && { message: shortened(message) }),
        serveDeploymentStatuses: Object.fromEntries(
          Object.entries(deployments).map(([deployment, one]) => [
            deployment,
            { status: one.status ?? "", ...(one.message && { message: shortened(one.message) }) },
          ]),
        ),
      },
    ]),
  );
}

/** Replaces the applications of a cluster by those of a configuration. The same one again changes nothing. */
export async function deployApplications(
  fetch: RayFetch,
  cluster: RayCluster,
  config: unknown,
  context: ReconcileContext,
): Promise<void> {
  await request(fetch, "PUT", applicationsUrl(cluster), JSON.stringify(config), context, DEPLOY_TIMEOUT);
}

/** Whether the proxy of a pod takes requests. */
export async function isProxyHealthy(
  fetch: RayFetch,
  address: string,
  port: number,
  context: ReconcileContext,
): Promise<boolean> {
  const host = address.includes(":") ? `[${address}]` : address;
  const url = `http://${host}:${port}/-/healthz`;
  return request(fetch, "GET", url, undefined, context, PROBE_TIMEOUT).then(
    () => true,
    () => false,
  );
}

const applicationsUrl = (cluster: RayCluster) => `http://${dashboardAddress(cluster)}/api/serve/applications/`;

const shortened = (text: string) => (text.length > LONGEST_MESSAGE ? `${text.slice(0, LONGEST_MESSAGE)}…` : text);

function request(
  fetch: RayFetch,
  method: "GET" | "PUT",
  url: string,
  body: string | undefined,
  { clock, callExternal }: ReconcileContext,
  timeout = TIMEOUT,
): Promise<string> {
  return callExternal(`${method} ${url}`, async () => {
    const over = new AbortController();
    const late = sleep(clock, timeout, { signal: over.signal, label: `${method} ${url}` }).then(
      () => undefined,
      () => undefined,
    );
    const answer = answerOf(fetch, url, {
      method,
      signal: over.signal,
      ...(body !== undefined && { body, headers: { "content-type": "application/json" } }),
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

async function answerOf(fetch: RayFetch, url: string, init: RequestInit): Promise<string> {
  const response = await fetch(url, init).catch((error: unknown) => {
    throw new Error(`${init.method} ${url}: ${reasonOf(error)}`, { cause: error });
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${init.method} ${url}: ${response.status} ${shortened(text.trim())}`);
  return text;
}

/** What `fetch` hides in the cause of its error. An error about several addresses has no message. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  const { message: reason, code = "" } = (cause instanceof Error ? cause : error) as NodeJS.ErrnoException;
  return reason || code || message;
}
