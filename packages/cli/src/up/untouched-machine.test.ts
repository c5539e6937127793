import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { hostname, networkInterfaces, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { type Client, connect } from "@konverge/client";
import {
  ConfigMap,
  Endpoints,
  Namespace,
  PersistentVolumeClaim,
  Pod,
  Role,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
} from "@konverge/kinds";
import { until } from "../../test/command-stage.ts";
import { hostileCommands, hostilePods, type Targets } from "../../test/hostile-pods.ts";
import { isWrite, recordMachineUse } from "../../test/machine-use.ts";
import { clusterCommands } from "../commands/cluster.ts";
import { type Up, type UpOptions, up } from "./up.ts";

const skip = process.platform === "win32";
const REPOSITORY = resolve(import.meta.dirname, "../../../..");
const NAMESPACE = "tenant";
/** Something that must not be seen in a container. */
const MARK = "known-to-this-machine-alone";

/** The options of `konverge up` without any. */
function defaultOptions(): UpOptions {
  const [command] = clusterCommands((error) => assert.fail(String(error)));
  return command!.opts<UpOptions>();
}

/** A home, a working folder and a folder for temporary files, in which every file is accounted for. */
async function inOwnHome(work: (base: string) => Promise<void>): Promise<void> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "untouched-")));
  for (const folder of ["home", "cwd", "tmp"]) mkdirSync(join(base, folder));
  const changes = {
    HOME: join(base, "home"),
    TMPDIR: join(base, "tmp"),
    KONVERGE_HOME: "",
    KUBECONFIG: "",
    [MARK]: MARK,
  };
  const before = Object.keys(changes).map((name) => [name, process.env[name]] as const);
  const set = (name: string, value: string | undefined) => {
    if (value) process.env[name] = value;
    else delete process.env[name];
  };
  const cwd = process.cwd();
  for (const [name, value] of Object.entries(changes)) set(name, value);
  process.chdir(join(base, "cwd"));
  try {
    await work(base);
  } finally {
    process.chdir(cwd);
    for (const [name, value] of before) set(name, value);
    rmSync(base, { recursive: true, force: true });
  }
}

/** Files and folders below a folder, with the files' contents. */
function treeOf(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [path.slice(folder.length + 1), entry.isFile() ? readFileSync(path, "utf8") : "folder"];
    }),
  );
}

/** Counts who connects to a port of the loopback interface. */
async function canary(): Promise<Server & { visitors: number }> {
  const server = Object.assign(createServer(), { visitors: 0 });
  server.on("connection", (socket) => {
    server.visitors++;
    socket.end("HTTP/1.1 200 OK\r\n\r\ncaught");
  });
  await new Promise<void>((done) => server.listen(0, () => done()));
  server.unref();
  return server;
}

/** A client with the role `edit` in one namespace. It may even write Endpoints, which that role does not grant. */
async function editor({ noted, port }: Up): Promise<Client> {
  await using admin = await connect({ kubeconfig: noted.kubeconfig });
  await admin.create(Namespace, { metadata: { name: NAMESPACE } });
  const metadata = { name: "mallory", namespace: NAMESPACE };
  await admin.create(ServiceAccount, { metadata });
  await admin.create(RoleBinding, {
    metadata,
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "edit" },
    subjects: [{ kind: "ServiceAccount", ...metadata }],
  });
  await admin.create(Role, {
    metadata: { ...metadata, name: "endpoints" },
    rules: [{ apiGroups: [""], resources: ["endpoints"], verbs: ["create"] }],
  });
  await admin.create(RoleBinding, {
    metadata: { ...metadata, name: "endpoints" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "endpoints" },
    subjects: [{ kind: "ServiceAccount", ...metadata }],
  });
  const { token } = await admin.requestToken(`${NAMESPACE}/mallory`);
  const config = {
    server: port.url,
    ca: { value: port.authority.cert },
    credentials: { token: { value: token } },
    namespace: NAMESPACE,
  };
  return connect({ config });
}

/** Everything that pods refer to, and Services that point out of the cluster. */
async function prepare(client: Client, { port, hosts }: Targets): Promise<void> {
  const data = { word: "mine", path: "../../..", "..data.txt": "x" };
  await assert.rejects(client.create(ConfigMap, { metadata: { name: "words" }, data }), /must not start with '\.\.'/);
  await client.create(ConfigMap, { metadata: { name: "words" }, data: { word: "mine", path: "../../.." } });
  await client.create(Secret, { metadata: { name: "words" }, stringData: { word: "mine" } });
  await client.create(PersistentVolumeClaim, {
    metadata: { name: "disk" },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  });
  await client.create(Service, {
    metadata: { name: "outward" },
    spec: { type: "ExternalName", externalName: "localhost" },
  });
  await client.create(Service, { metadata: { name: "sideways" }, spec: { ports: [{ port }] } });
  const subsets = (ip: string) => [{ addresses: [{ ip }], ports: [{ port }] }];
  await assert.rejects(
    client.create(Endpoints, { metadata: { name: "sideways" }, subsets: subsets("127.0.0.1") }),
    /may not be in the loopback range/,
  );
  const outside = hosts.find((host) => /^\d+\.\d+\.\d+\.\d+$/.test(host)) ?? "192.0.2.1";
  await client.create(Endpoints, { metadata: { name: "sideways" }, subsets: subsets(outside) });
}

async function logOf(client: Client, name: string): Promise<string> {
  const lines: string[] = [];
  for await (const line of client.logs(`${NAMESPACE}/${name}`)) lines.push(line);
  return lines.join("\n");
}

async function outputOf(client: Client, pod: string, command: readonly string[]): Promise<string> {
  const running = await client.exec(pod, command).catch((error: Error) => error);
  if (running instanceof Error) return running.message;
  const text = async (stream: AsyncIterable<Uint8Array>) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  };
  const [stdout, stderr] = await Promise.all([text(running.stdout), text(running.stderr)]);
  await running.exitCode.catch(() => {});
  return stdout + stderr;
}

/** Creates all hostile pods, and waits until they have done what they can. Gives the names of those that ended. */
async function runAll(client: Client, targets: Targets): Promise<string[]> {
  const refused: string[] = [];
  for (const [name, spec] of hostilePods(targets))
    await client.create(Pod, { metadata: { name }, spec }).catch(() => refused.push(name));
  const parts = ["map", "empty", "host-root"].flatMap((volume) => [`part-${volume}-0`, `part-${volume}-1`]);
  assert.deepEqual(refused.sort(), parts.sort(), "what a real server refuses is refused, and nothing else");
  const ended = new Set<string>();
  await until("all pods have done what they can", async () => {
    const { items } = await client.list(Pod, { namespace: NAMESPACE });
    const busy = items.filter(({ metadata: { name }, status }) => {
      if (status?.phase === "Succeeded" || status?.phase === "Failed") ended.add(name);
      const { waiting, running } = status?.containerStatuses?.[0]?.state ?? {};
      const goesOn = /^(ready|live|hook|operators|ports|seeming)/.test(name) && running !== undefined;
      return !ended.has(name) && !goesOn && waiting?.reason !== "CreateContainerConfigError";
    });
    if (busy.length > 0) throw new Error(`busy: ${busy.map(({ metadata }) => metadata.name).join(", ")}`);
    return true;
  });
  return [...ended];
}

/** Ways to a port of a pod from outside: none leads to the same port of this machine. */
async function knock(client: Client, pod: string, port: number): Promise<void> {
  await using forward = await client.portForward(pod);
  await assert.rejects(async () => {
    for await (const chunk of forward.connect(port).readable) assert.fail(Buffer.from(chunk).toString());
  }, /connection refused/);
  for (const path of [`pods/${pod}:${port}/proxy/`, `services/sideways:${port}/proxy/`, "services/outward:80/proxy/"])
    await assert.rejects(
      client.request({ method: "GET", path: `/api/v1/namespaces/${NAMESPACE}/${path}` }),
      /connection refused|no endpoints|no service port|not found/,
    );
}

/** What `konverge up` has while it runs, and what of that stays. */
const OURS = ["home/.konverge", "home/.konverge/run", "home/.kube"];
const WHILE_RUNNING = [...OURS, "home/.konverge/run/konverge.json", "home/.kube/config"];

test(
  "whatever an account with the role edit runs in konverge up, nothing of this machine is executed or touched",
  {
    skip,
    timeout: 300_000,
  },
  () =>
    inOwnHome(async (base) => {
      const folder = join(base, "target");
      const file = join(folder, "file");
      mkdirSync(folder);
      writeFileSync(file, MARK);
      const server = await canary();
      const { port } = server.address() as { port: number };
      const addresses = Object.values(networkInterfaces()).flatMap((list = []) => list.map(({ address }) => address));
      const hosts = [hostname(), ...addresses.filter((one) => one !== "127.0.0.1" && one !== "::1")].slice(0, 4);
      const targets: Targets = { folder, file, port, hosts };
      const before = treeOf(base);
      const use = recordMachineUse();
      const started = await up(defaultOptions());
      try {
        await using client = await editor(started);
        await prepare(client, targets);
        let seen = "";
        for (const name of await runAll(client, targets)) seen += `${await logOf(client, name)}\n`;
        assert.match(seen, /^done$/m, "the script that tries everything ran to its end");
        for (const command of hostileCommands(targets)) seen += await outputOf(client, "ready-0", command);
        await knock(client, "ready-0", port);
        assert.equal(seen.includes(MARK), false, "no file and no variable of this machine is seen");
        assert.equal(seen.includes("caught"), false, "no port of this machine is reached");
        assert.equal(seen.includes(join(base, "cwd")), false, "nor does anybody learn where it runs");
        // Some hooks run when pods go.
        await client.deleteCollection(Pod, { namespace: NAMESPACE });
        await until("all are gone", async () => (await client.list(Pod, { namespace: NAMESPACE })).items.length === 0);
      } finally {
        use[Symbol.dispose]();
        const tree = Object.keys(treeOf(base)).filter((path) => !(path in before));
        await started.stop();
        assert.deepEqual(tree.sort(), WHILE_RUNNING.sort(), "what konverge up writes is all there is");
      }
      assert.equal(server.visitors, 0);
      assert.deepEqual(use.processes, []);
      assert.deepEqual(use.network, ["lookup 127.0.0.1"], "the address that the cluster listens on");
      assert.deepEqual(
        [...new Set(use.connections)],
        [`127.0.0.1:${started.port.port}`],
        "the API server, nothing else",
      );
      const isIn = (path: string, above: string) => `${path}/`.startsWith(`${above}/`);
      const home = join(base, "home");
      const astray = use.files.filter((one) => !isIn(one.path, home) && (isWrite(one) || !isIn(one.path, REPOSITORY)));
      assert.deepEqual(
        astray,
        [],
        "files are written in the home alone, and read there and where Konverge is installed",
      );
      const after = treeOf(base);
      for (const path of OURS) delete after[path];
      assert.deepEqual(after, before);
    }),
);
