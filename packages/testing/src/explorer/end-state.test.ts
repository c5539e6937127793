import assert from "node:assert/strict";
import { test } from "node:test";
import type { AnyObject } from "@konverge/core";
import { endStateDifferences, endStateOf } from "./end-state.ts";

const available = { type: "Available", status: "True" };
const progressing = { type: "Progressing", status: "True" };
const deployment = (...conditions: object[]): AnyObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web" },
  status: { conditions },
});

test("the order of conditions does not count: controllers move a condition that changes to the end", () => {
  const expected = endStateOf([deployment(available, progressing)]);
  assert.deepEqual(endStateDifferences(expected, endStateOf([deployment(progressing, available)])), []);
});

test("a condition that has another status, or is missing, counts", () => {
  const expected = endStateOf([deployment(available, progressing)]);
  const other = endStateOf([deployment(progressing, { ...available, status: "False" })]);
  assert.deepEqual(endStateDifferences(expected, other), [
    'Deployment web differs: status.conditions[Available].status: expected "True", but it is "False"',
  ]);
  assert.equal(endStateDifferences(expected, endStateOf([deployment(progressing)])).length, 1);
});

test("annotations of which another client has written the only one are the same as none", () => {
  const map: AnyObject = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
  const foreign = { ...map, metadata: { name: "a", annotations: { "example.com/foreign": "yes" } } };
  assert.deepEqual(endStateDifferences(endStateOf([map]), endStateOf([foreign])), []);
});

const rolledOut = (revision: string): AnyObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", uid: "1", annotations: { "deployment.kubernetes.io/revision": revision } },
});
const workload = rolledOut("2");
const replicaSet = (name: string, replicas: number, owner = "1"): AnyObject => ({
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  metadata: {
    name,
    ownerReferences: [{ apiVersion: "apps/v1", kind: "Deployment", name: "web", uid: owner, controller: true }],
  },
  spec: { replicas },
});

test("the old ReplicaSets of a Deployment do not count: a recreated one has none", () => {
  const expected = endStateOf([workload, replicaSet("web-old", 0), replicaSet("web-new", 3)]);
  assert.deepEqual(endStateDifferences(expected, endStateOf([rolledOut("1"), replicaSet("web-new", 3)])), []);
});

test("a ReplicaSet that runs pods, or whose Deployment is gone, counts", () => {
  const expected = endStateOf([workload, replicaSet("web-new", 3)]);
  assert.deepEqual(endStateDifferences(expected, endStateOf([workload])), ["ReplicaSet web-new is missing"]);
  assert.deepEqual(endStateDifferences(endStateOf([]), endStateOf([replicaSet("web-old", 0)])), [
    "ReplicaSet web-old should not be there",
  ]);
});

const running = (node: string): AnyObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web-0" },
  spec: { nodeName: node },
});
const reporting = (node: string): AnyObject => ({
  apiVersion: "example.com/v1",
  kind: "Site",
  metadata: { name: "web" },
  status: { servers: [{ name: "web-0", node }] },
});

test("the node that a pod runs on does not count, nor does a status that reports it", () => {
  const expected = endStateOf([running("node-1"), reporting("node-1")]);
  assert.deepEqual(endStateDifferences(expected, endStateOf([running("node-2"), reporting("node-2")])), []);
});

test("a status that reports a node on which no pod runs any more counts", () => {
  const expected = endStateOf([running("node-1"), reporting("node-1")]);
  assert.deepEqual(endStateDifferences(expected, endStateOf([running("node-2"), reporting("node-1")])), [
    'Site web differs: status.servers[web-0].node: expected "<node>", but it is "node-1"',
  ]);
});
