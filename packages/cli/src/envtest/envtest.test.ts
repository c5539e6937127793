import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createAuthority, kubeconfigText, SERVER_NAMES } from "@konverge/apiserver";
import { connect } from "@konverge/client";
import { realClock, sleep } from "@konverge/core";
import { ConfigMap } from "@konverge/kinds";
import { parseFlags, setupFrom } from "./apiserver-flags.ts";
import { writeAssets } from "./assets.ts";

const clock = realClock();

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = clock.monotonic() + 60_000;
  while (!(await holds().catch(() => false))) {
    if (clock.monotonic() > deadline) assert.fail(`it never came true that ${what}`);
    await sleep(clock, 50);
  }
}

test("flags are read in both spellings", () => {
  const flags = parseFlags(["--secure-port=1", "--bind-address", "127.0.0.1", "--allow-privileged", "--v=2"]);
  assert.deepEqual(Object.fromEntries(flags), {
    "secure-port": "1",
    "bind-address": "127.0.0.1",
    "allow-privileged": "true",
    v: "2",
  });
});

test("unsupported flags are refused with what is wrong", () => {
  const folder = mkdtempSync(join(tmpdir(), "envtest-flags-"));
  try {
    const empty = join(folder, "empty");
    writeFileSync(empty, "");
    const refused = (why: RegExp, ...args: string[]) => assert.throws(() => setupFrom(args, clock), why);
    refused(/--secure-port abc: it must be a number/, "--secure-port=abc");
    refused(/--secure-port 70000/, "--secure-port=70000");
    refused(/--client-ca-file \/nowhere cannot be used: ENOENT/, "--client-ca-file=/nowhere");
    refused(/--client-ca-file .*empty cannot be used/, `--client-ca-file=${empty}`);
    refused(/--tls-cert-file .*empty cannot be used/, `--tls-cert-file=${empty}`, `--tls-private-key-file=${empty}`);
    refused(/--service-account-key-file .*empty/, `--service-account-key-file=${empty}`);
    refused(/--service-account-signing-key-file .*empty/, `--service-account-signing-key-file=${empty}`);
    const mine = createAuthority(clock).server("a", SERVER_NAMES);
    const another = createAuthority(clock).server("b", SERVER_NAMES);
    writeFileSync(join(folder, "apiserver.crt"), mine.cert);
    writeFileSync(join(folder, "apiserver.key"), another.key);
    refused(/--tls-private-key-file .*key values mismatch/, `--cert-dir=${folder}`);
    writeFileSync(join(folder, "apiserver.key"), mine.key);
    assert.equal(setupFrom([`--cert-dir=${folder}`], clock).tls.cert, mine.cert);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("the launchers are started and stopped as envtest does", { skip: process.platform === "win32" }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "envtest-"));
  const started: ChildProcess[] = [];
  const start = (name: string, args: string[]) => {
    const child = spawn(join(folder, name), args, { stdio: "ignore" });
    started.push(child);
    return child;
  };
  try {
    writeAssets({ controllers: false, folder });
    const [etcdPort, port] = [await freePort(), await freePort()];
    const etcdUrl = `http://127.0.0.1:${etcdPort}`;
    start("etcd", [`--listen-client-urls=${etcdUrl}`, `--data-dir=${folder}`]);
    await until("etcd is well", async () => (await fetch(`${etcdUrl}/health`)).status === 200);

    const authority = createAuthority(clock);
    const serving = authority.server("kube-apiserver", SERVER_NAMES);
    writeFileSync(join(folder, "apiserver.crt"), serving.cert);
    writeFileSync(join(folder, "apiserver.key"), serving.key);
    writeFileSync(join(folder, "client-ca.crt"), authority.cert);
    const apiServer = start("kube-apiserver", [
      `--etcd-servers=${etcdUrl}`,
      `--cert-dir=${folder}`,
      `--client-ca-file=${join(folder, "client-ca.crt")}`,
      `--secure-port=${port}`,
      "--bind-address=127.0.0.1",
      "--service-cluster-ip-range=10.0.0.0/24",
      "--authorization-mode=RBAC",
      "--disable-admission-plugins=ServiceAccount",
    ]);
    const url = `https://127.0.0.1:${port}`;
    const credential = authority.client("admin", ["system:masters"]);
    const kubeconfig = join(folder, "kubeconfig");
    writeFileSync(kubeconfig, kubeconfigText({ name: "envtest", url, ca: authority.cert, user: "admin", credential }));
    const client = await connect({ kubeconfig });
    await until(
      "the API server is ready",
      async () => (await client.request({ method: "GET", path: "/readyz" })) === "ok",
    );
    const made = await client.create(ConfigMap, { metadata: { name: "one", namespace: "default" }, data: { a: "b" } });
    assert.ok(made.metadata.uid);
    await client.close();
    const ended = once(apiServer, "exit");
    apiServer.kill("SIGTERM");
    assert.deepEqual(await ended, [0, null]);
  } finally {
    for (const child of started) child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
});
