import assert from "node:assert/strict";
import { test } from "node:test";
import { withMetricsGroup } from "./metrics-api.ts";

test("the list of API groups has the group of metrics, and an answer without a body stays one", async () => {
  const listed = await withMetricsGroup({ status: 200, headers: {}, body: '{"kind":"APIGroupList","groups":[]}' });
  assert.match(String(listed.body), /"name":"metrics\.k8s\.io"/);
  const toHead = await withMetricsGroup({ status: 200, headers: { etag: "x" }, body: "" });
  assert.deepEqual(toHead, { status: 200, headers: { etag: "x" }, body: "" });
});
