import assert from "node:assert/strict";
import { test } from "node:test";
import { findPrograms, type Machine, MissingPrerequisites, nodeCacheFolder } from "./prerequisites.ts";

const DEBIAN = 'ID=debian\nVERSION_ID="12"\n';
const TOOLS = ["ctr", "iptables", "conntrack", "ip", "unshare", "nsenter", "mount"].map((name) => `/usr/bin/${name}`);
const RUNTIME = ["/usr/bin/containerd", "/usr/bin/runc"];
const PLUGINS = ["ptp", "host-local", "portmap", "loopback"].map((name) => `/usr/lib/cni/${name}`);
const KUBELET = ["/usr/bin/kubelet", "/usr/bin/kube-proxy"];
const ALL = [...TOOLS, ...RUNTIME, ...PLUGINS, ...KUBELET];

function machine(files: readonly string[], more: Partial<Machine> = {}): Machine {
  return {
    platform: "linux",
    isRoot: true,
    architecture: "amd64",
    path: ["/usr/sbin", "/usr/bin"],
    home: "/root",
    release: DEBIAN,
    hasControlGroups: true,
    isExecutable: (path) => files.includes(path),
    ...more,
  };
}

function missingOn(files: readonly string[], more: Partial<Machine> = {}): readonly string[] {
  try {
    findPrograms({}, machine(files, more));
    return [];
  } catch (error) {
    assert.ok(error instanceof MissingPrerequisites);
    return error.missing;
  }
}

test("the programs of a node are found in the path, those that were built before others", () => {
  const own = `${nodeCacheFolder(machine([]))}/kubelet`;
  assert.deepEqual(findPrograms({ kubeProxy: "/usr/bin/kube-proxy" }, machine([...ALL, own])), {
    containerd: "/usr/bin/containerd",
    runtime: "/usr/bin/runc",
    plugins: "/usr/lib/cni",
    kubelet: own,
    kubeProxy: "/usr/bin/kube-proxy",
  });
});

test("crun does where there is no runc", () => {
  const files = [...ALL.filter((path) => path !== "/usr/bin/runc"), "/usr/bin/crun"];
  assert.equal(findPrograms({}, machine(files)).runtime, "/usr/bin/crun");
});

test("each missing program is reported at once, with the package that the distribution has it in", () => {
  const without = ["containerd", "runc", "iptables", "conntrack"].map((name) => `/usr/bin/${name}`);
  const files = TOOLS.filter((path) => !without.includes(path));
  const onDebian = missingOn(files);
  const install = (name: string, command: string) => `${name} is missing: ${command}`;
  assert.ok(onDebian.includes(install("containerd", "apt-get install containerd")));
  assert.ok(onDebian.includes(install("runc or crun", "apt-get install runc")));
  assert.ok(onDebian.includes(install("conntrack", "apt-get install conntrack")));
  assert.ok(onDebian.some((one) => one.includes("apt-get install containernetworking-plugins")));
  assert.ok(onDebian.some((one) => one.includes("https://dl.k8s.io/v1.36.3/bin/linux/amd64/kubelet")));
  const onFedora = missingOn(files, { release: 'ID="rocky"\nID_LIKE="rhel centos fedora"\n' });
  assert.ok(onFedora.includes(install("conntrack", "dnf install conntrack-tools")));
  assert.ok(missingOn(files, { release: "ID=arch\n" }).some((one) => one.includes("install the package conntrack")));
});

test("errors for users other than root, and for other platforms, say what to do", () => {
  assert.deepEqual(missingOn(ALL, { isRoot: false }), ["you are not root: run the command with sudo"]);
  const [reason] = missingOn(ALL, { platform: "darwin" });
  assert.match(reason ?? "", /this is macOS: use simulated nodes \(konverge up --nodes 3\)/);
  assert.match(missingOn(ALL, { platform: "win32" })[0] ?? "", /this is Windows/);
});

test("an OCI runtime that is named takes the place of runc, which then need not be there", () => {
  const own = "/opt/runtime/runsc";
  const files = [...ALL.filter((path) => path !== "/usr/bin/runc"), own];
  assert.equal(findPrograms({ ociRuntime: own }, machine(files)).runtime, own);
  assert.throws(() => findPrograms({ ociRuntime: own }, machine(ALL)), /\/opt\/runtime\/runsc is not a program/);
});

test("a kubelet that is named must be a program", () => {
  assert.throws(() => findPrograms({ kubelet: "/tmp/none" }, machine(ALL)), /\/tmp\/none is not a program/);
});
