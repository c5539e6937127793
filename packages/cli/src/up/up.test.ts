import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type Client, connect } from "@konverge/client";
import { isForbidden, realClock } from "@konverge/core";
import { CertificateSigningRequest, Pod } from "@konverge/kinds";
import { until } from "../../test/command-stage.ts";
import { startedCommand } from "../started-files.ts";
import { down, upInBackground } from "./background.ts";
import { notedCluster, notedNames } from "./running-clusters.ts";
import { type UpOptions, up } from "./up.ts";

let folder: string;
const homeBefore = process.env["KONVERGE_HOME"];
before(() => {
  folder = mkdtempSync(join(tmpdir(), "konverge-up-"));
  process.env["KONVERGE_HOME"] = folder;
});
after(() => {
  rmSync(folder, { recursive: true, force: true });
  if (homeBefore === undefined) delete process.env["KONVERGE_HOME"];
  else process.env["KONVERGE_HOME"] = homeBefore;
});

const options = (more: Partial<UpOptions> = {}): UpOptions => ({
  name: "test",
  port: 0,
  host: "127.0.0.1",
  kubeconfig: join(folder, "kubeconfig"),
  nodes: 1,
  gpus: "none",
  timeScale: 1,
  operators: "none",
  ...more,
});

async function logOf(client: Client, name: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of client.logs(`default/${name}`)) lines.push(line);
  return lines;
}

const skip = process.platform === "win32";

test("images are commands of this machine, and outlive the process in a durable cluster", { skip }, async () => {
  const durable = options({ data: join(folder, "data"), program: ["example/count=echo one two"] });
  const first = await up(durable);
  assert.equal(notedCluster("test")?.url, first.port.url);
  await assert.rejects(up(durable), /a cluster named test is already running/);
  {
    await using client = await connect({ kubeconfig: first.noted.kubeconfig });
    const containers = [{ name: "main", image: "example/count:v2", args: ["three"] }];
    await client.create(Pod, { metadata: { name: "count" }, spec: { restartPolicy: "OnFailure", containers } });
    await until("it has counted", async () => (await client.get(Pod, "count")).status?.phase === "Succeeded");
    assert.deepEqual(await logOf(client, "count"), ["one two three"]);
    const waiting = [{ name: "main", image: "example/count", command: ["ignored"], args: ["; exec sleep 600"] }];
    await client.create(Pod, { metadata: { name: "words" }, spec: { restartPolicy: "Never", containers: waiting } });
    await until("args are words, never a script", async () => {
      return (await logOf(client, "words"))[0] === "one two ; exec sleep 600";
    });
  }
  await first.stop();
  assert.equal(notedCluster("test"), undefined);
  const second = await up({ ...durable, timeScale: 1.5 });
  try {
    await using client = await connect({ kubeconfig: second.noted.kubeconfig });
    assert.equal((await client.get(Pod, "count")).status?.phase, "Succeeded");
  } finally {
    await second.stop();
  }
});

test("what cannot be a program, or an operator, is refused before anything has started", async () => {
  await assert.rejects(up(options({ program: ["node web.js"] })), /--program node web\.js: it must be IMAGE=COMMAND/);
  const hostPort = (text: string) => up(options({ program: ["example/web=true"], hostPort: [text] }));
  await assert.rejects(hostPort("8080"), /--host-port 8080: it must be IMAGE=PORT/);
  await assert.rejects(hostPort("example/web=70000"), /it must be IMAGE=PORT/);
  await assert.rejects(hostPort("example/other=80"), /--host-port example\/other=80: no --program has the image/);
  await assert.rejects(up(options({ operators: "nope" })), /there is no operator named nope: .* llm-operator/);
  assert.equal(notedCluster("test"), undefined);
});

test("what cannot be kept, told to kubectl or listened on is refused, and nothing stays behind", { skip }, async () => {
  const file = join(folder, "file");
  writeFileSync(file, "no: [kubeconfig");
  const data = join(folder, "kept");
  const { port, stop } = await up(options({ name: "other", kubeconfig: join(folder, "other"), data }));
  try {
    await assert.rejects(up(options({ data: file })), /--data .*file cannot be used: .*file is not a folder/);
    await assert.rejects(up(options({ data: "/proc/data" })), /--data \/proc\/data cannot be used/);
    await assert.rejects(up(options({ data })), /state\.db is in use by another process/);
    await assert.rejects(up(options({ kubeconfig: file })), /file is not a kubeconfig/);
    await assert.rejects(up(options({ kubeconfig: folder })), /is not a file/);
    await assert.rejects(up(options({ port: port.port })), /the port is in use/);
    await assert.rejects(up(options({ gpus: "H100" })), /H100/);
  } finally {
    await stop();
  }
  assert.equal(notedCluster("test"), undefined);
  assert.equal(existsSync(join(folder, "kubeconfig")), false);
});

test("a name that would lead out of the folder of running clusters is refused, and nothing is written or read", async () => {
  const outside = join(folder, "run", "..", "..", "evil.json");
  const name = "../../evil";
  const refused = /^UsageError: --name "..\/..\/evil" cannot be used as a name: use lower case letters, digits and '-'/;
  await assert.rejects(up(options({ name })), refused);
  await assert.rejects(upInBackground(name, ["--name", name]), refused);
  await assert.rejects(down(name, realClock()), refused);
  assert.equal(existsSync(outside), false);
  assert.equal(existsSync(join(folder, "kubeconfig")), false);
  mkdirSync(join(folder, "run"), { recursive: true });
  writeFileSync(join(folder, "run", "...json"), "{}");
  assert.deepEqual(notedNames(), []);
  rmSync(join(folder, "run", "...json"));
});

test("invalid keys are reported, with what to do", { skip }, async () => {
  const data = join(folder, "keys");
  await (await up(options({ data }))).stop();
  writeFileSync(join(data, "ca.key"), "");
  await assert.rejects(up(options({ data })), /ca\.crt and ca\.key are not a certificate and its key/);
});

test("only the owner can read a cluster's kubeconfig, and its path is printed", { skip }, async () => {
  const { noted, stop } = await up(options());
  try {
    assert.match(readFileSync(noted.kubeconfig, "utf8"), new RegExp(noted.url));
    assert.ok(existsSync(join(folder, "run", "test.json")));
  } finally {
    await stop();
  }
});

test("a program that starts a cluster reads where it is as JSON, and the cluster ends with it", async () => {
  const kubeconfig = join(folder, "started.json");
  const [program, ...words] = startedCommand("konverge");
  const flags = ["--name", "started", "--kubeconfig", kubeconfig, "--until-stdin-closes", "--output", "json"];
  const child = spawn(program, [...words, "up", ...flags], { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const { url } = JSON.parse(String(line)) as { url: string };
  const config = JSON.parse(readFileSync(kubeconfig, "utf8")) as { clusters: { cluster: { server: string } }[] };
  assert.equal(config.clusters[0]!.cluster.server, url);
  const ended = once(child, "exit");
  child.stdin.end();
  assert.deepEqual(await ended, [0, null]);
  assert.equal(notedCluster("started"), undefined);
  assert.equal(existsSync(kubeconfig), false);
});

test("a kubelet requests its certificates with the kubeconfig that is written for it, and nothing else", async () => {
  const bootstrapKubeconfig = join(folder, "bootstrap.kubeconfig");
  const started = await up(options({ name: "joinable", bootstrapKubeconfig }));
  {
    await using client = await connect({ kubeconfig: bootstrapKubeconfig });
    assert.deepEqual((await client.list(CertificateSigningRequest)).items, []);
    await assert.rejects(client.list(Pod), isForbidden);
  }
  await started.stop();
  assert.equal(statSync(bootstrapKubeconfig).mode & 0o777, 0o600);
});
