import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, describe, test } from "node:test";
import { promisify } from "node:util";
import { realClock, sleep } from "@konverge/core";
import {
  findLinuxNodes,
  findPrograms,
  importImage,
  MissingPrerequisites,
  networkOf,
  processesIn,
} from "@konverge/linux-node";
import { findControlPlane } from "@konverge/real";
import { writeImageArchive } from "@konverge/real/image-archive.ts";
import { differences, machineTraces } from "./machine-traces.ts";

const run = promisify(execFile);
const CLI = join(import.meta.dirname, "../bin/konverge.js");
const NAME = "nodes-test";
const IMAGE = "docker.io/library/busybox:nodes-test";
const BUSYBOX = "/bin/busybox";
const MINUTES = 60_000;
const clock = realClock();

const kubectl = findControlPlane();
const why = missing();

/** Why real nodes cannot be tested on this machine. */
function missing(): string | undefined {
  try {
    findPrograms();
  } catch (error) {
    if (error instanceof MissingPrerequisites) return error.message;
    throw error;
  }
  if (!kubectl.available) return kubectl.why;
  return existsSync(BUSYBOX) ? undefined : `no ${BUSYBOX}: install busybox-static`;
}

describe("real nodes", { skip: why ?? false, timeout: 10 * MINUTES }, () => {
  const folder = mkdtempSync(join(tmpdir(), "konverge-nodes-test-"));
  const env = { ...process.env, KONVERGE_HOME: folder };
  const nodesFolder = join(folder, "nodes", NAME);
  const kubeconfig = join(folder, "kubeconfig");
  const bootstrap = join(folder, "bootstrap.kubeconfig");
  let server: ChildProcess | undefined;

  after(async () => {
    await konverge("down", "--name", NAME);
    rmSync(folder, { recursive: true, force: true });
  });

  const konverge = async (...args: string[]) => (await run(process.execPath, [CLI, ...args], { env })).stdout;
  const k = async (...args: string[]) => {
    const program = kubectl.available ? kubectl.assets.kubectl : undefined;
    return (await run(program!, ["--kubeconfig", kubeconfig, ...args], { env })).stdout;
  };

  /** `konverge up`, which returns when the cluster and its nodes are ready. */
  async function up(): Promise<void> {
    const files = ["--data", join(folder, "data"), "--kubeconfig", kubeconfig, "--bootstrap-kubeconfig", bootstrap];
    const args = ["up", "--name", NAME, "--real-nodes", "2", ...files];
    server = spawn(process.execPath, [CLI, ...args], { env, stdio: ["ignore", "ignore", "inherit", "ipc"] });
    const ended = once(server, "exit").then(() => assert.fail("konverge up has ended"));
    ended.catch(() => {});
    await Promise.race([once(server, "message"), ended]);
    const archive = busyboxImage(folder);
    for (const node of findLinuxNodes(nodesFolder)) await importImage(node, archive);
  }

  async function killServer(): Promise<void> {
    const ended = once(server!, "exit");
    server?.kill("SIGKILL");
    await ended;
  }

  test("two nodes start, run pods, and reach each other's pods by address, Service and name", async () => {
    await up();
    await k("apply", "-f", writePods(folder));
    await k("wait", "--for=condition=Ready", "pod/web-1", "pod/web-2", "--timeout=60s");
    const other = JSON.parse(await k("get", "pod", "web-2", "-o", "json")) as PodJson;
    const get = (host: string) => k("exec", "web-1", "--", "wget", "-q", "-O", "-", `http://${host}/`);
    assert.equal(await get(`${other.status.podIP}:8080`), "web-2\n");
    const service = (await k("get", "service", "web-2", "-o", "jsonpath={.spec.clusterIP}")).trim();
    await eventually(async () => assert.equal(await get(service), "web-2\n"));
    const found = await k("exec", "web-1", "--", "nslookup", "web-2.default.svc.cluster.local");
    assert.match(found, new RegExp(`Address: ${service.replaceAll(".", "\\.")}`));
  });

  test("kubectl logs, exec, cp, attach, port-forward, debug and top work on real pods", async () => {
    assert.equal(await k("logs", "web-1"), "started web-1\n");
    assert.equal((await k("exec", "web-1", "--", "hostname")).trim(), "web-1");
    const [there, back] = [join(folder, "there"), join(folder, "back")];
    writeFileSync(there, "copied\n");
    await k("cp", there, "default/web-1:/tmp/copied");
    await k("cp", "default/web-1:/tmp/copied", back);
    assert.equal(readFileSync(back, "utf8"), "copied\n");
    await k("wait", "--for=condition=Ready", "pod/echo", "--timeout=60s");
    assert.match(await attached("hello\n"), /heard hello/);
    assert.equal(await forwarded(), "web-1\n");
    await k("debug", "web-1", `--image=${IMAGE}`, "--container=debugger", "--", "echo", "debugged");
    await eventually(async () => assert.equal(await k("logs", "web-1", "-c", "debugger"), "debugged\n"));
    await eventually(async () => assert.match(await k("top", "pods"), /web-1\s+\d+m\s+\d+Mi/));
    await eventually(async () => assert.match(await k("top", "nodes"), /linux-2\s+\d+m/));
  });

  test("the credentials of a node reach what its pods use, and nothing of other nodes", async () => {
    const secret = (name: string) => k("create", "secret", "generic", name, "--from-literal=key=value");
    await secret("mounted");
    await secret("elsewhere");
    const overrides = (name: string, node: string) =>
      JSON.stringify({
        apiVersion: "v1",
        spec: {
          nodeName: node,
          volumes: [{ name: "secret", secret: { secretName: name } }],
          containers: [{ name, image: IMAGE, args: ["cat"], stdin: true, volumeMounts: [VOLUME_MOUNT] }],
          terminationGracePeriodSeconds: 0,
        },
      });
    const uses = (name: string, node: string) =>
      k("run", name, `--image=${IMAGE}`, "--restart=Never", `--overrides=${overrides(name, node)}`);
    await uses("mounted", "linux-1");
    await uses("elsewhere", "linux-2");
    await k("wait", "--for=condition=Ready", "pod/mounted", "pod/elsewhere", "--timeout=60s");
    const ofNode = nodeKubeconfig(join(nodesFolder, "linux-1"), folder);
    const asNode = (...args: string[]) => k("--kubeconfig", ofNode, ...args);
    assert.match(await asNode("auth", "whoami"), /system:node:linux-1/);
    assert.match(await asNode("get", "secret", "mounted", "-o", "name"), /secret\/mounted/);
    await assert.rejects(
      asNode("get", "secret", "elsewhere"),
      /no relationship found between node 'linux-1' and this object/,
    );
    await assert.rejects(asNode("get", "secrets"), /Forbidden/);
    await assert.rejects(asNode("label", "node", "linux-2", "mine=true"), /Forbidden/);
    await assert.rejects(asNode("delete", "pod", "elsewhere"), /Forbidden|forbidden/);
    await k("delete", "pod", "mounted", "elsewhere", "--now");
  });

  test("a node joins a running cluster by its name, or by a token, and is removed", async () => {
    await konverge("node", "join", "--name", NAME);
    await konverge("node", "remove", "linux-3", "--name", NAME);
    const text = readFileSync(bootstrap, "utf8");
    const url = /server: "?(https:[^"\s]+)/.exec(text)?.[1] ?? "";
    const token = /token: "?([a-z0-9.]+)/.exec(text)?.[1] ?? "";
    const joinBy = (shown: string) => konverge("node", "join", "--server", url, "--token", shown, "--node", "third");
    await assert.rejects(joinBy(token.replace(/.$/, (last) => (last === "0" ? "1" : "0"))), /does not know the token/);
    await joinBy(token);
    assert.match(await konverge("node", "list"), new RegExp(`^${NAME}\tthird\t`, "m"));
    assert.match(await k("get", "nodes"), /^third\s+Ready/m);
    await konverge("node", "remove", "third", "--name", NAME);
    assert.doesNotMatch(await k("get", "nodes"), /third|linux-3/);
  });

  test("a control plane that was killed finds its nodes again, and no container restarts", async () => {
    const containers = async () => {
      const { items } = JSON.parse(await k("get", "pods", "-o", "json")) as { items: PodJson[] };
      return items.flatMap(({ status }) =>
        status.containerStatuses.map(({ containerID, restartCount }) => `${containerID} ${restartCount}`),
      );
    };
    const before = await containers();
    const pids = findLinuxNodes(nodesFolder).map(({ pid }) => pid);
    await killServer();
    await up();
    await k("wait", "--for=condition=Ready", "pod/web-1", "pod/web-2", "--timeout=60s");
    await k("exec", "web-2", "--", "true");
    assert.deepEqual(await containers(), before);
    assert.deepEqual(
      findLinuxNodes(nodesFolder).map(({ pid }) => pid),
      pids,
    );
  });

  test("after down, nothing of the nodes is left", async () => {
    await konverge("down", "--name", NAME);
    const before = machineTraces();
    await up();
    const own = networkOf(nodesFolder)?.index;
    await k("wait", "--for=condition=Ready", "pod/web-1", "pod/web-2", "--timeout=60s");
    assert.notDeepEqual(differences(before, machineTraces(), own), []);
    await konverge("down", "--name", NAME);
    assert.deepEqual(differences(before, machineTraces(), own), []);
    assert.ok(!existsSync(nodesFolder));
  });

  test("down removes the same after everything was killed", async () => {
    const before = machineTraces();
    await up();
    const own = networkOf(nodesFolder)?.index;
    await k("wait", "--for=condition=Ready", "pod/web-1", "pod/web-2", "--timeout=60s");
    await killServer();
    for (const index of [0, 1]) {
      for (const pid of processesIn(`konverge-${own}-${index}`)) {
        try {
          process.kill(pid, "SIGKILL");
        } catch {
          // It ended with its namespace.
        }
      }
    }
    await konverge("down", "--name", NAME);
    assert.deepEqual(differences(before, machineTraces(), own), []);
    assert.equal(await konverge("node", "list"), "there are no real nodes on this machine\n");
  });

  test("a second SIGTERM does not interrupt the removal of the nodes: nothing of them is left", async () => {
    const before = machineTraces();
    await up();
    const own = networkOf(nodesFolder)?.index;
    const ended = once(server!, "exit");
    server!.kill("SIGTERM");
    // The folder of a node goes when all of the node is gone: the network is still there, and the other node perhaps.
    await eventually(async () => assert.ok(findLinuxNodes(nodesFolder).length < 2));
    server!.kill("SIGTERM");
    server!.kill("SIGINT");
    assert.deepEqual(await ended, [0, null]);
    assert.deepEqual(differences(before, machineTraces(), own), []);
    assert.ok(!existsSync(nodesFolder));
  });

  test("SIGTERM while nodes start removes them at once", async () => {
    const before = machineTraces();
    // A node that would never be ready.
    const args = ["up", "--name", NAME, "--real-nodes", "1", "--kubelet", "/bin/false", "--kubeconfig", kubeconfig];
    const child = spawn(process.execPath, [CLI, ...args], { env, stdio: ["ignore", "ignore", "inherit"] });
    const ended = once(child, "exit");
    await eventually(async () => assert.ok(findLinuxNodes(nodesFolder)[0]?.pid));
    const own = networkOf(nodesFolder)?.index;
    child.kill("SIGTERM");
    assert.deepEqual(await ended, [130, null]);
    assert.deepEqual(differences(before, machineTraces(), own), []);
    assert.ok(!existsSync(nodesFolder));
  });

  test("the network of a control plane that was killed goes with its last node", async () => {
    const before = machineTraces();
    await up();
    const own = networkOf(nodesFolder)?.index;
    await killServer();
    for (const node of ["linux-1", "linux-2"]) await konverge("node", "remove", node, "--name", NAME);
    assert.deepEqual(differences(before, machineTraces(), own), []);
    assert.ok(!existsSync(nodesFolder));
  });

  test("a cluster that cannot start leaves no network behind", async () => {
    const before = machineTraces();
    const busy = createServer().listen(0, "127.0.0.1");
    await once(busy, "listening");
    const { port } = busy.address() as AddressInfo;
    const args = ["--name", NAME, "--real-nodes", "1", "--port", String(port), "--kubeconfig", kubeconfig];
    await assert.rejects(konverge("up", ...args), /EADDRINUSE|in use/);
    busy.close();
    assert.deepEqual(differences(before, machineTraces(), undefined), []);
    assert.ok(!existsSync(nodesFolder));
  });

  async function attached(input: string): Promise<string> {
    const program = kubectl.available ? kubectl.assets.kubectl! : "";
    const child = spawn(program, ["--kubeconfig", kubeconfig, "attach", "echo", "--stdin", "--quiet"], { env });
    child.stdin.write(input);
    let said = "";
    for await (const chunk of child.stdout) {
      said += chunk;
      if (said.includes("heard")) break;
    }
    child.kill();
    return said;
  }

  async function forwarded(): Promise<string> {
    const program = kubectl.available ? kubectl.assets.kubectl! : "";
    const child = spawn(program, ["--kubeconfig", kubeconfig, "port-forward", "pod/web-1", ":8080"], { env });
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    const port = /127\.0\.0\.1:(\d+)/.exec(line.toString())?.[1];
    try {
      return await (await fetch(`http://127.0.0.1:${port}/`)).text();
    } finally {
      child.kill();
    }
  }
});

const VOLUME_MOUNT = { name: "secret", mountPath: "/secret" };

/** A node's kubeconfig with its certificate, by paths of this machine in place of the node's own. */
function nodeKubeconfig(node: string, folder: string): string {
  const file = join(folder, "node.kubeconfig");
  const keys = join(node, "kubelet", "pki");
  const current = join(keys, basename(readlinkSync(join(keys, "kubelet-client-current.pem"))));
  const text = readFileSync(join(node, "kubelet", "kubeconfig"), "utf8");
  writeFileSync(file, text.replaceAll("/var/lib/kubelet/pki/kubelet-client-current.pem", current));
  return file;
}

interface PodJson {
  readonly status: {
    readonly podIP: string;
    readonly containerStatuses: readonly { readonly containerID: string; readonly restartCount: number }[];
  };
}

/** Tries again until something holds, for half a minute: metrics and rules of nodes follow after a while. */
async function eventually(check: () => Promise<void>): Promise<void> {
  const end = clock.monotonic() + 30_000;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (clock.monotonic() > end) throw error;
      await sleep(clock, 200);
    }
  }
}

/** An image with the machine's busybox, as an archive. */
function busyboxImage(folder: string): string {
  const archive = join(folder, "busybox.tar");
  if (existsSync(archive)) return archive;
  const rootfs = join(folder, "rootfs");
  for (const name of ["bin", "tmp", "etc"]) mkdirSync(join(rootfs, name), { recursive: true });
  cpSync(BUSYBOX, join(rootfs, "bin", "busybox"));
  for (const name of ["sh", "httpd", "wget", "nslookup", "hostname", "cat", "echo", "tar", "true", "test"]) {
    symlinkSync("busybox", join(rootfs, "bin", name));
  }
  writeImageArchive(archive, { name: IMAGE, rootfs, config: { Cmd: ["sh"] } });
  return archive;
}

function writePods(folder: string): string {
  const pod = (name: string, script: string, more: object = {}, spec: object = {}) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default", labels: { app: name } },
    spec: {
      containers: [{ name: "main", image: IMAGE, command: ["sh", "-c", script], ...more }],
      terminationGracePeriodSeconds: 1,
      ...spec,
    },
  });
  const web = (number: number) =>
    pod(
      `web-${number}`,
      "echo started $HOSTNAME; echo $HOSTNAME > /tmp/index.html; exec httpd -f -p 8080 -h /tmp",
      { readinessProbe: { httpGet: { port: 8080 }, periodSeconds: 1 } },
      { nodeName: `linux-${number}` },
    );
  const service = {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web-2", namespace: "default" },
    spec: { selector: { app: "web-2" }, ports: [{ port: 80, targetPort: 8080 }] },
  };
  const echo = pod("echo", "while read line; do echo heard $line; done", { stdin: true }, { nodeName: "linux-1" });
  const file = join(folder, "pods.json");
  writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: [web(1), web(2), service, echo] }));
  return file;
}
