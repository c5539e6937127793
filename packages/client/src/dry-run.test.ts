import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiRequest } from "@konverge/core";
import { dryRunTransport } from "./dry-run.ts";

test("every write becomes a dry run, reads stay as they are, and what cannot be one is not sent", async () => {
  const sent: ApiRequest[] = [];
  const transport = dryRunTransport(async (request) => {
    sent.push(request);
    return { status: 200, headers: {}, body: "{}" };
  });
  const send = (method: string, path: string, more: Partial<ApiRequest> = {}) =>
    transport({ method, path, headers: {}, ...more });
  await send("GET", "/api/v1/pods");
  await send("POST", "/api/v1/namespaces/a/pods", { body: "{}" });
  await send("PATCH", "/api/v1/namespaces/a/pods/b?fieldManager=c");
  await send("DELETE", "/api/v1/namespaces/a/pods/b", { body: '{"preconditions":{"uid":"1"}}' });
  await send("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews");
  assert.deepEqual(
    sent.map(({ path }) => path),
    [
      "/api/v1/pods",
      "/api/v1/namespaces/a/pods?dryRun=All",
      "/api/v1/namespaces/a/pods/b?fieldManager=c&dryRun=All",
      "/api/v1/namespaces/a/pods/b?dryRun=All",
      "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    ],
  );
  assert.deepEqual(JSON.parse(String(sent[3]?.body)), { preconditions: { uid: "1" }, dryRun: ["All"] });
  const answer = await send("GET", "/api/v1/namespaces/a/pods/b/exec?command=ls", { upgrade: ["v5.channel.k8s.io"] });
  assert.equal(answer.status, 405);
  assert.match(String(answer.body), /exec is not sent in a dry run/);
  assert.equal(sent.length, 5);
});
