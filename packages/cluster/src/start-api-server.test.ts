import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "@konverge/client";
import { readText } from "@konverge/core";
import { Namespace, Node, Pod, Service } from "@konverge/kinds";
import { startApiServer } from "./start-api-server.ts";

const LOCAL = { address: "127.0.0.1" };

test("an API server alone has a cluster's objects and no controllers", async () => {
  await using alone = startApiServer();
  const client = new Client(alone.server.transport);
  assert.ok(await client.get(Namespace, "kube-system"));
  assert.equal((await client.get(Service, "default/kubernetes")).spec?.clusterIP, "10.96.0.1");
  const pod = await client.create(Pod, {
    metadata: { namespace: "default", name: "p" },
    spec: { containers: [{ name: "c", image: "i" }] },
  });
  assert.equal(pod.spec?.serviceAccountName, undefined);
});

test("an API server alone answers for Nodes, Pods and Services that nothing runs", async () => {
  await using alone = startApiServer({
    access: { tokens: [{ token: "t", user: { name: "admin", groups: ["system:masters"] } }] },
  });
  const client = new Client(alone.server.transport);
  await client.create(Node, { metadata: { name: "n" } });
  await client.create(Service, { metadata: { namespace: "default", name: "s" }, spec: { ports: [{ port: 80 }] } });
  await client.create(Pod, {
    metadata: { namespace: "default", name: "p" },
    spec: { nodeName: "missing", containers: [{ name: "c", image: "i" }] },
  });
  const answer = async (path: string) => {
    const headers = { authorization: "Bearer t" };
    const response = await alone.guard.handle({ method: "GET", path: `/api/v1/${path}`, headers }, LOCAL);
    return `${response.status} ${(JSON.parse(await readText(response.body)) as { message: string }).message}`;
  };
  assert.equal(await answer("namespaces/default/services/s/proxy/x"), '503 no endpoints available for service "s"');
  assert.equal(
    await answer("namespaces/default/pods/p/proxy/x"),
    "503 error trying to reach service: dial tcp p:80: connect: connection refused",
  );
  assert.equal(await answer("namespaces/default/pods/p/log"), "400 pod p does not run on a simulated node");
});
