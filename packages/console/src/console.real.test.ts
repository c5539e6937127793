import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Client, connect } from "@konverge/client";
import { sleep } from "@konverge/core";
import { ConfigMap, CustomResourceDefinition } from "@konverge/kinds";
import { findControlPlane, type RealCluster, startRealCluster } from "@konverge/real";
import { type Console, startConsole } from "./console.ts";
import type { ObjectSummary } from "./protocol.ts";

const plane = findControlPlane(process.env["KONVERGE_KUBERNETES"]);
const options = { skip: plane.available ? false : plane.why };

let cluster: RealCluster;
let client: Client;
let served: Console;
before(async () => {
  if (!plane.available) return;
  cluster = await startRealCluster();
  client = await connect({ kubeconfig: cluster.kubeconfig });
  served = await startConsole({ client, title: "real" });
});
after(async () => {
  await served?.close();
  await client?.close();
  await cluster?.stop();
});

let cookie: string | undefined;
async function get<T>(path: string): Promise<T> {
  cookie ??= (await fetch(served.url, { redirect: "manual" })).headers.get("set-cookie")!.split(";")[0];
  const response = await fetch(new URL(path, served.url), { headers: { cookie: cookie! } });
  return (await response.json()) as T;
}

async function observed(name: string): Promise<ObjectSummary> {
  for (;;) {
    const found = (await get<ObjectSummary[]>("/console/state")).find((one) => one.name === name);
    if (found) return found;
    await sleep(client.clock, 100);
  }
}

test("the objects of a real cluster are shown with their owners, and of kinds that come later", options, async () => {
  const owner = await client.create(ConfigMap, { metadata: { name: "owner", namespace: "default" } });
  const { name, uid } = owner.metadata;
  const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name, uid: uid!, controller: true }];
  await client.create(ConfigMap, { metadata: { name: "child", namespace: "default", ownerReferences } });
  assert.deepEqual((await observed("child")).owners, [uid]);
  await client.create(CustomResourceDefinition, {
    metadata: { name: "widgets.console.example.com" },
    spec: {
      group: "console.example.com",
      scope: "Namespaced",
      names: { kind: "Widget", plural: "widgets", singular: "widget" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
        },
      ],
    },
  } as never);
  for (;;) {
    const { status } = await client.get(CustomResourceDefinition, "widgets.console.example.com");
    // In a new definition they are null.
    if (status?.conditions?.some((one) => one.type === "Established" && one.status === "True")) break;
    await sleep(client.clock, 100);
  }
  const kind = await client.mapper.resolve({ apiVersion: "console.example.com/v1", kind: "Widget" });
  await client.create(kind, {
    apiVersion: "console.example.com/v1",
    kind: "Widget",
    metadata: { name: "later", namespace: "default" },
  } as never);
  assert.equal((await observed("later")).kind, "Widget");
});

test("requests of the page reach a real API server with the user's credentials", options, async () => {
  const { gitVersion } = await get<{ gitVersion: string }>("/k8s/version");
  assert.match(gitVersion, /^v1\./);
  const { message } = await get<{ message: string }>("/k8s/api/v1/namespaces/default/pods/absent");
  assert.equal(message, 'pods "absent" not found');
});
