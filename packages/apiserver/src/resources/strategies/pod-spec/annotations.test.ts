import assert from "node:assert/strict";
import { test } from "node:test";
import { readText, VirtualClock } from "@konverge/core";
import { ApiServer } from "../../../server.ts";

const APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/c";
const MIRROR = "kubernetes.io/config.mirror";
const PODS = "/api/v1/namespaces/n/pods";

async function newServer() {
  const server = new ApiServer({ clock: new VirtualClock() });
  const send = async (method: string, path: string, body: object) => {
    const type = method === "PATCH" ? "application/strategic-merge-patch+json" : "application/json";
    const headers = { accept: "application/json", "content-type": type };
    const response = await server.transport({ method, path, headers, body: JSON.stringify(body) });
    const { message = "" } = JSON.parse(await readText(response.body)) as { message?: string };
    return { status: response.status, message };
  };
  await send("POST", "/api/v1/namespaces", { metadata: { name: "n", labels: LEVEL } });
  return send;
}

const LEVEL = { "pod-security.kubernetes.io/enforce": "baseline" };
const spec = { containers: [{ name: "c", image: "x" }] };
const pod = (name: string, annotations: object, more = {}) => ({
  metadata: { name, annotations },
  spec: { ...spec, ...more },
});

test("what confines a pod cannot be taken away by an annotation after it was admitted", async () => {
  const send = await newServer();
  assert.equal((await send("POST", PODS, pod("unconfined", { [APP_ARMOR]: "unconfined" }))).status, 403);
  assert.equal((await send("POST", PODS, pod("p", {}))).status, 201);
  assert.equal((await send("POST", PODS, pod("q", { [APP_ARMOR]: "runtime/default" }))).status, 201);
  const annotate = (name: string, value: string | null, subresource = "") =>
    send("PATCH", `${PODS}/${name}${subresource}`, { metadata: { annotations: { [APP_ARMOR]: value } } });
  for (const subresource of ["", "/status"]) {
    assert.match((await annotate("p", "unconfined", subresource)).message, /may not add AppArmor annotations/);
    for (const value of ["unconfined", null]) {
      const { status, message } = await annotate("q", value, subresource);
      assert.equal(status, 422);
      assert.match(message, /may not remove or update AppArmor annotations/);
    }
  }
});

test("a pod is a kubelet's own from its creation or never, and such a pod stays as it is", async () => {
  const send = await newServer();
  const { message } = await send("POST", PODS, pod("p", { [MIRROR]: "x" }));
  assert.match(message, /must set spec.nodeName if mirror pod annotation is set/);
  assert.equal((await send("POST", PODS, pod("p", {}))).status, 201);
  const added = await send("PATCH", `${PODS}/p`, { metadata: { annotations: { [MIRROR]: "x" } } });
  assert.match(added.message, /may not add mirror pod annotation/);
  assert.equal((await send("POST", PODS, pod("q", { [MIRROR]: "x" }, { nodeName: "a" }))).status, 201);
  const removed = await send("PATCH", `${PODS}/q`, { metadata: { annotations: { [MIRROR]: null } } });
  assert.match(removed.message, /may not remove or update mirror pod annotation/);
  const debug = { spec: { ephemeralContainers: [{ name: "d", image: "x" }] } };
  assert.match((await send("PATCH", `${PODS}/q/ephemeralcontainers`, debug)).message, /static pods do not support/);
  assert.match((await send("PATCH", `${PODS}/q/resize`, { spec })).message, /static pods cannot be resized/);
  const claims = { nodeName: "a", resourceClaims: [{ name: "g", resourceClaimName: "g" }] };
  assert.match(
    (await send("POST", PODS, pod("r", { [MIRROR]: "x" }, claims))).message,
    /do not support resource claims/,
  );
});

test("annotations that nodes and controllers read are checked in pods and templates", async () => {
  const send = await newServer();
  const cost = "controller.kubernetes.io/pod-deletion-cost";
  const wrong: [object, RegExp][] = [
    [{ [cost]: "2147483648" }, /must be a 32bit integer/],
    [{ [cost]: "+1" }, /must be a 32bit integer/],
    [{ "container.apparmor.security.beta.kubernetes.io/d": "runtime/default" }, /container not found/],
    [{ [APP_ARMOR]: "complain" }, /invalid AppArmor profile name: \\?"complain\\?"/],
    [{ "seccomp.security.alpha.kubernetes.io/pod": "localhost/../x" }, /must not contain '..'/],
    [{ "container.seccomp.security.alpha.kubernetes.io/c": "none" }, /must be a valid seccomp profile/],
  ];
  for (const [annotations, expected] of wrong) {
    const direct = await send("POST", PODS, pod("p", annotations));
    assert.equal(direct.status, 422, JSON.stringify(annotations));
    assert.match(direct.message, expected);
    const labels = { a: "b" };
    const template = { metadata: { labels, annotations }, spec };
    const deployment = { metadata: { name: "d" }, spec: { selector: { matchLabels: labels }, template } };
    assert.match((await send("POST", "/apis/apps/v1/namespaces/n/deployments", deployment)).message, expected);
  }
  for (const value of ["0", "-007", "2147483647", "-2147483648"]) {
    assert.equal((await send("POST", PODS, pod(`cost${value}`, { [cost]: value }))).status, 201, value);
  }
});
