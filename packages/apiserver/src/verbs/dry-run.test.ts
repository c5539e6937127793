import assert from "node:assert/strict";
import { test } from "node:test";
import { readText, VirtualClock } from "@konverge/core";
import { ApiServer } from "../server.ts";

function setup() {
  const server = new ApiServer({ clock: new VirtualClock() });
  return async (path: string, body: object) => {
    const headers = { "content-type": "application/json", "user-agent": "tester/1" };
    const answer = await server.transport({ method: "POST", path, headers, body: JSON.stringify(body) });
    return { status: answer.status, body: JSON.parse(await readText(answer.body)) };
  };
}

test("a dry-run create ignores a resourceVersion, which only the storage refuses", async () => {
  const post = setup();
  const body = { metadata: { name: "a", resourceVersion: "7" } };
  const dry = await post("/api/v1/namespaces/default/configmaps?dryRun=All", body);
  assert.equal(dry.status, 201);
  assert.equal(dry.body.metadata.resourceVersion, "7");
  assert.equal((await post("/api/v1/namespaces/default/configmaps", body)).status, 500);
});

test("a dry run takes node ports from beyond the range, so that it takes none from anyone", async () => {
  const post = setup();
  const { body } = await post("/api/v1/namespaces/default/services?dryRun=All", {
    metadata: { name: "s" },
    spec: {
      type: "NodePort",
      ports: [
        { name: "a", port: 80 },
        { name: "b", port: 81 },
      ],
    },
  });
  assert.deepEqual(
    body.spec.ports.map(({ nodePort }: { nodePort: number }) => nodePort),
    [32769, 32770],
  );
});

test("what is created without being stored records its field manager, too", async () => {
  const post = setup();
  const review = await post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
    spec: { nonResourceAttributes: { path: "/healthz", verb: "get" } },
  });
  assert.equal(review.body.metadata.managedFields[0].manager, "tester");
  await post("/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "robot" } });
  const { body } = await post("/api/v1/namespaces/default/serviceaccounts/robot/token", {
    spec: { expirationSeconds: 600 },
  });
  const [{ manager, subresource, fieldsV1 }] = body.metadata.managedFields;
  assert.deepEqual(
    { manager, subresource, fieldsV1 },
    {
      manager: "tester",
      subresource: "token",
      fieldsV1: { "f:spec": { "f:expirationSeconds": {} } },
    },
  );
  assert.equal(body.spec.boundObjectRef, null);
});
