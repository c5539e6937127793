import assert from "node:assert/strict";
import { test } from "node:test";
import { waitContainers, waitSettings } from "./wait-for-master.ts";

test("a template takes the place of the built-in container", () => {
  const template = `
- name: wait
  image: {{.InitContainerImage}}
  command: [sh, -c, "ping -c {{ .MaxTries }} {{.MasterAddr}}"]`;
  assert.deepEqual(waitContainers({ image: "busybox:1", maxTries: 7, template }, "train-master-0"), [
    { name: "wait", image: "busybox:1", command: ["sh", "-c", "ping -c 7 train-master-0"] },
  ]);
});

test("the built-in container is admitted wherever the container that trains is", () => {
  const wait = { image: "busybox:1", maxTries: 7, template: undefined };
  const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } };
  assert.deepEqual(waitContainers(wait, "m", { securityContext })[0]?.securityContext, securityContext);
  assert.equal(waitContainers(wait, "m", {})[0]?.securityContext, undefined);
});

test("a template that is no list is refused", () => {
  const wait = { image: "busybox:1", maxTries: 7, template: "name: wait" };
  assert.throws(() => waitContainers(wait, "m"), /is not a list/);
});

test("a file that is not there is no template, and tries are a number", () => {
  assert.equal(waitSettings({ pytorchInitContainerTemplateFile: "/nowhere/at-all.yaml" }).template, undefined);
  assert.throws(() => waitSettings({ pytorchInitContainerMaxTries: "many" }), /integer above 0/);
});
