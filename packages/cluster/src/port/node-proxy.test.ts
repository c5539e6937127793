import assert from "node:assert/strict";
import { test } from "node:test";
import { requestInfo } from "@konverge/apiserver";
import { isNodeProxied } from "./node-proxy.ts";

test("nodes are reached by their own path alone: what is permitted in a namespace says nothing about them", () => {
  const isProxy = (path: string) => isNodeProxied(requestInfo({ method: "GET", path }));
  assert.equal(isProxy("/api/v1/nodes/a/proxy/pods"), true);
  assert.equal(isProxy("/api/v1/namespaces/n/nodes/a/proxy/pods"), false);
  assert.equal(isProxy("/api/v1/proxy/nodes/a/proxy/pods"), false);
});
