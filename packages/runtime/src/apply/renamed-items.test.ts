import assert from "node:assert/strict";
import { test } from "node:test";
import { builtinSchema } from "@konverge/kinds";
import { renamedItems } from "./renamed-items.ts";

const schema = builtinSchema("", "v1", "Service");
const renamed = (desired: object[], live: object[]) =>
  renamedItems({ spec: { ports: desired } }, { spec: { ports: live } }, schema);

test("an item that is ours in all but its key is ours, renamed", () => {
  const there = { name: "http", port: 81, protocol: "TCP", targetPort: 80 };
  assert.deepEqual(renamed([{ name: "http", port: 80, targetPort: 80 }], [there]), [["spec", "ports", there]]);
});

test("an item with other values belongs to another manager", () => {
  assert.deepEqual(renamed([{ name: "http", port: 80 }], [{ name: "theirs", port: 81, protocol: "TCP" }]), []);
});

test("nothing is renamed while all of ours is there", () => {
  const http = { name: "http", port: 80, protocol: "TCP" };
  assert.deepEqual(renamed([{ name: "http", port: 80 }], [http, { ...http, port: 81 }]), []);
});

test("an item that is only a key cannot be distinguished from another", () => {
  assert.deepEqual(renamed([{ port: 80 }], [{ port: 81, protocol: "TCP" }]), []);
});
