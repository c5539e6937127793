import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createAuthority } from "@konverge/apiserver";
import type { Client } from "@konverge/client";
import { realClock, timestamp } from "@konverge/core";
import { APIService, Pod, Service } from "@konverge/kinds";
import { CUSTOM, EXTERNAL, type Measures, measured } from "./measures.ts";

const RESOURCE = "metrics.k8s.io";
const APIS = { [CUSTOM]: "v1beta2", [EXTERNAL]: "v1beta1", [RESOURCE]: "v1beta1" };

/** Says to a cluster that a server behind it serves metrics APIs. */
export async function registerMetrics(
  client: Client,
  groups: readonly (keyof typeof APIS)[],
  place: { port: number; caBundle?: string },
): Promise<void> {
  const namespace = "kube-system";
  await client.create(Service, {
    metadata: { name: "metrics", namespace },
    spec: { type: "ExternalName", externalName: "localhost" },
  });
  for (const group of groups) {
    const version = APIS[group]!;
    await client.create(APIService, {
      metadata: { name: `${version}.${group}` },
      spec: {
        group,
        version,
        groupPriorityMinimum: 100,
        versionPriority: 100,
        service: { namespace, name: "metrics", port: place.port },
        ...(place.caBundle ? { caBundle: place.caBundle } : { insecureSkipTLSVerify: true }),
      },
    });
  }
}

/**
 * A metrics server for a real cluster: what pods use is said by their annotations, as simulated nodes take it
 * (`sim.konverge.dev/cpu`), everything else by the measures.
 */
export async function startMetricsServer(client: Client, measures: Measures) {
  const authority = createAuthority(realClock(), { name: "metrics" });
  const { cert, key } = authority.server("metrics", ["metrics.kube-system.svc"]);
  const answer = async (path: string): Promise<object | undefined> => {
    const now = timestamp(client.clock);
    if (!path.startsWith(`/apis/${RESOURCE}/`)) return measured(measures, path, now);
    const { pathname, searchParams } = new URL(path, "http://localhost");
    const [, , , version, , namespace] = pathname.split("/");
    const apiVersion = `${RESOURCE}/${version}`;
    if (!namespace) return { kind: "APIResourceList", apiVersion: "v1", groupVersion: apiVersion, resources: [] };
    const { items } = await client.list(Pod, { namespace, labelSelector: searchParams.get("labelSelector") ?? "" });
    const used = items.flatMap(({ metadata, spec }) => {
      const cpu = metadata.annotations?.["sim.konverge.dev/cpu"];
      const containers = spec?.containers.map(({ name }) => ({ name, usage: { cpu, memory: "1Mi" } }));
      return cpu ? [{ metadata: { name: metadata.name, namespace }, timestamp: now, window: "1s", containers }] : [];
    });
    return { kind: "PodMetricsList", apiVersion, metadata: {}, items: used };
  };
  const server = createServer({ cert, key }, (request, response) => {
    const missing = { kind: "Status", apiVersion: "v1", status: "Failure", reason: "NotFound", code: 404 };
    answer(request.url ?? "")
      .catch(() => undefined)
      .then((body) => {
        response.writeHead(body ? 200 : 404, { "content-type": "application/json" });
        response.end(JSON.stringify(body ?? missing));
      });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await registerMetrics(client, [CUSTOM, EXTERNAL, RESOURCE], {
    port,
    caBundle: Buffer.from(authority.cert).toString("base64"),
  });
  return {
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
