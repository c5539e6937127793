import assert from "node:assert/strict";
import { test } from "node:test";
import type { OwnerReference } from "./object.ts";
import {
  checkOwnership,
  controllerOf,
  isControlledBy,
  isOwnedBy,
  OwnershipError,
  ownerReference,
  withOwnerReference,
} from "./owner-references.ts";

const Deployment = { group: "apps", version: "v1", kind: "Deployment", namespaced: true };
const Node = { group: "", version: "v1", kind: "Node", namespaced: false };
const web = { metadata: { name: "web", uid: "u1" } };
const reborn = { metadata: { name: "web", uid: "u2" } };
const toWeb = ownerReference(Deployment, web);

const owned = (...ownerReferences: OwnerReference[]) => ({ metadata: { name: "x", namespace: "ns", ownerReferences } });

test("a reference names the owner by uid, and by default makes it the controller", () => {
  assert.deepEqual(toWeb, {
    apiVersion: "apps/v1",
    kind: "Deployment",
    name: "web",
    uid: "u1",
    controller: true,
    blockOwnerDeletion: true,
  });
  assert.deepEqual(ownerReference(Deployment, web, { controller: false }), {
    apiVersion: "apps/v1",
    kind: "Deployment",
    name: "web",
    uid: "u1",
  });
  assert.throws(() => ownerReference(Deployment, { metadata: { name: "web" } }), /has no uid yet/);
});

test("an owner of the same name but another uid is another owner", () => {
  assert.ok(isOwnedBy(owned(toWeb), web));
  assert.ok(!isOwnedBy(owned(toWeb), reborn));
  assert.ok(isControlledBy(owned(toWeb), web));
  assert.ok(!isControlledBy(owned({ ...toWeb, controller: false }), web));
  assert.ok(!isOwnedBy(owned(), web));
  assert.ok(!isOwnedBy(owned({ ...toWeb, uid: undefined as unknown as string }), { metadata: {} }));
  assert.equal(controllerOf(owned({ ...toWeb, controller: false }))?.name, undefined);
});

test("a reference is added once, and renewed in place", () => {
  const plain = ownerReference(Deployment, reborn, { controller: false });
  assert.deepEqual(withOwnerReference({ metadata: {} }, toWeb), [toWeb]);
  assert.deepEqual(withOwnerReference(owned(toWeb), toWeb), [toWeb]);
  assert.deepEqual(withOwnerReference(owned(toWeb), plain), [toWeb, plain]);
  assert.deepEqual(withOwnerReference(owned({ ...toWeb, controller: false }, plain), toWeb), [toWeb, plain]);
});

test("a second controller is refused before the server does", () => {
  assert.throws(
    () => withOwnerReference(owned(toWeb), ownerReference(Deployment, reborn)),
    (error) =>
      error instanceof OwnershipError &&
      error.code === "AnotherController" &&
      error.message ===
        "ns/x already has a controller, Deployment web (uid u1), and cannot have Deployment web as well",
  );
});

test("ownership that the garbage collector would take for absence is refused", () => {
  const owner = { kind: Deployment, name: "web", namespace: "a" };
  checkOwnership(owner, { kind: Deployment, name: "x", namespace: "a" });
  checkOwnership({ kind: Node, name: "n" }, { kind: Deployment, name: "x", namespace: "a" });
  checkOwnership({ kind: Node, name: "n" }, { kind: Node, name: "m" });
  const refused = (child: Parameters<typeof checkOwnership>[1], code: string, message: RegExp) =>
    assert.throws(() => checkOwnership(owner, child), { name: "OwnershipError", code, message });
  refused(
    { kind: Node, name: "n" },
    "ClusterScoped",
    /^Deployment.apps a\/web cannot own Node n: it is cluster-scoped/,
  );
  refused({ kind: Deployment, name: "x", namespace: "b" }, "AnotherNamespace", /b\/x: it is in another namespace$/);
});
