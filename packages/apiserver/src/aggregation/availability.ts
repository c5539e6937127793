import { ApiError, type Clock, parseJson, readText, resourcePath, type Transport, timestamp } from "@konverge/core";
import type { APIService } from "@konverge/kinds";
import type { Store } from "../storage/store.ts";
import { API_SERVICE_STORAGE, API_SERVICES, type RemoteService } from "./api-services.ts";
import { withDeadline } from "./deadline.ts";
import type { CallExtension } from "./extension-call.ts";
import { AGGREGATOR, identityHeaders } from "./identity-headers.ts";
import { type Obstacle, obstacleTo, targetOf } from "./service-address.ts";

/** How long another server may take to say what it serves. */
export const DISCOVERY_TIMEOUT = 5000;

/** What a check needs. */
export interface AvailabilityOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly call: CallExtension;
  /** Reaches this server itself, with its own identity. */
  readonly self: Transport;
}

/** Finds out whether a remote APIService can be used, and writes it into its condition; true when it can. */
export async function checkAvailability(options: AvailabilityOptions, remote: RemoteService): Promise<boolean> {
  const obstacle = obstacleTo(options.store, remote) ?? (await discoveryObstacle(options, remote));
  const verdict = obstacle
    ? { status: "False", ...obstacle }
    : { status: "True", reason: "Passed", message: "all checks passed" };
  await writeCondition(options, remote, verdict);
  return !obstacle;
}

/** Whether the server answers where every API server must. */
async function discoveryObstacle(
  { store, clock, call }: AvailabilityOptions,
  remote: RemoteService,
): Promise<Obstacle | undefined> {
  const path = remote.group === "" ? `/api/${remote.version}` : `/apis/${remote.group}/${remote.version}`;
  const failed = (message: string): Obstacle => ({ reason: "FailedDiscoveryCheck", message });
  let target: ReturnType<typeof targetOf>;
  try {
    target = targetOf(store, remote);
  } catch (error) {
    return failed((error as Error).message);
  }
  const url = `https://${target.host}:${target.port}${path}`;
  try {
    const status = await withDeadline(clock, DISCOVERY_TIMEOUT, async (signal) => {
      const response = await call(target, { method: "GET", path, headers: identityHeaders(AGGREGATOR), signal });
      await readText(response.body);
      return response.status;
    });
    if (status >= 200 && status < 300) return undefined;
    return failed(`failing or missing response from ${url}: bad status from ${url}: ${status}`);
  } catch (error) {
    return failed(`failing or missing response from ${url}: Get "${url}": ${(error as Error).message}`);
  }
}

async function writeCondition(
  { store, clock, self }: AvailabilityOptions,
  { name, uid }: RemoteService,
  verdict: { status: string; reason: string; message: string },
): Promise<void> {
  const entry = store.collection(API_SERVICE_STORAGE).get(name);
  if (!entry || entry.uid !== uid) return;
  const object = parseJson(entry.text) as APIService;
  const conditions = object.status?.conditions ?? [];
  const before = conditions.find(({ type }) => type === "Available");
  const { status, reason, message } = verdict;
  if (before?.status === status && before.reason === reason && before.message === message) return;
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : timestamp(clock);
  const condition = { type: "Available", status, ...(lastTransitionTime && { lastTransitionTime }), reason, message };
  const others = conditions.filter(({ type }) => type !== "Available");
  const response = await self({
    method: "PUT",
    path: resourcePath(API_SERVICES, { name, subresource: "status" }),
    headers: { "content-type": "application/json", "user-agent": "kube-apiserver/v1" },
    body: JSON.stringify({ ...object, status: { conditions: [...others, condition] } }),
  });
  // Deleted or changed meanwhile: that change has caused another check.
  if (response.status >= 300 && response.status !== 404 && response.status !== 409) {
    throw new ApiError({ code: response.status, message: await readText(response.body) });
  }
}
