import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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

test("without an image in the settings, workers wait in the image in which they train", () => {
  const wait = waitSettings({});
  assert.equal(waitContainers(wait, "m", { image: "example/trainer:1" })[0]?.image, "example/trainer:1");
  assert.equal(waitContainers({ ...wait, image: "busybox:1" }, "m", { image: "x" })[0]?.image, "busybox:1");
});

test("a template that is no list is refused", () => {
  const wait = { image: "busybox:1", maxTries: 7, template: "name: wait" };
  assert.throws(() => waitContainers(wait, "m"), /is not a list/);
});

test("a file that is not there is no template, and tries are a number", () => {
  assert.equal(waitSettings({ pytorchInitContainerTemplateFile: "/nowhere/at-all.yaml" }).template, undefined);
  assert.throws(() => waitSettings({ pytorchInitContainerMaxTries: "many" }), /integer above 0/);
});

test("a master is found when one of the search domains knows it, though nslookup fails for the others", {
  skip: process.platform === "win32" && "it is a shell script",
}, (t) => {
  const bin = mkdtempSync(join(tmpdir(), "konverge-nslookup-"));
  t.after(() => rmSync(bin, { recursive: true, force: true }));
  const program = (name: string, script: string) => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  const [container] = waitContainers({ image: "busybox:1", maxTries: 2, template: undefined }, "train-master-0");
  const [shell, ...args] = container!.command!;
  const code = () => spawnSync(shell!, args, { env: { PATH: `${bin}:${process.env["PATH"]}` } }).status;
  program("sleep", "");
  const missing = 'echo "Server: 10.96.0.10"; echo "** server can\'t find $1.svc.cluster.local: NXDOMAIN"; exit 1';
  program("nslookup", missing);
  assert.equal(code(), 1);
  // As busybox has done it since 1.31.
  program("nslookup", `printf 'Name:\\t%s.default.svc.cluster.local\\n' "$1"; ${missing}`);
  assert.equal(code(), 0);
  // An image in which one trains may have no nslookup; Debian's and Ubuntu's have getent.
  program("nslookup", "exit 127");
  assert.equal(code(), 1);
  program("getent", '[ "$1 $2" = "hosts train-master-0" ]');
  assert.equal(code(), 0);
});
