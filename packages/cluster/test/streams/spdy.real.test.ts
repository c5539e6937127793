import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type Cluster, type ClusterPort, plainNodes, startCluster } from "@konverge/cluster";
import { Pod } from "@konverge/kinds";
import { findControlPlane } from "@konverge/real";

const plane = findControlPlane();
const kubectl = plane.available ? plane.assets.kubectl : undefined;
const skip = kubectl ? false : plane.available ? "there is no kubectl" : plane.why;

describe("kubectl that speaks SPDY, as before WebSockets", { skip }, () => {
  let cluster: Cluster;
  let port: ClusterPort;
  const home = mkdtempSync(join(tmpdir(), "konverge-spdy-"));
  const kubeconfig = join(home, "config");
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    KUBECONFIG: kubeconfig,
    KUBECTL_REMOTE_COMMAND_WEBSOCKETS: "false",
    KUBECTL_PORT_FORWARD_WEBSOCKETS: "false",
  };
  const run = (...args: string[]) =>
    new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
      execFile(kubectl!, args, { env }, (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
      );
    });

  before(async () => {
    cluster = await startCluster({ nodes: plainNodes(1) });
    port = await cluster.listen();
    writeFileSync(kubeconfig, port.kubeconfig(), { mode: 0o600 });
    await cluster.client.create(Pod, {
      metadata: { name: "shell", namespace: "default" },
      spec: { containers: [{ name: "c", image: "busybox", command: ["sleep", "3600"] }] },
    });
    await run("wait", "--for=condition=Ready", "pod/shell");
  });
  after(async () => {
    await port?.close();
    await cluster?.stop();
    rmSync(home, { recursive: true, force: true });
  });

  test("exec has its output, its errors and its exit code", async () => {
    const { code, stdout, stderr } = await run("exec", "shell", "--", "sh", "-c", "echo out; echo err >&2; exit 3");
    assert.deepEqual({ code, stdout }, { code: 3, stdout: "out\n" });
    assert.match(stderr, /^err\ncommand terminated with exit code 3/);
    assert.deepEqual(await run("exec", "shell", "--", "echo", "fine"), { code: 0, stdout: "fine\n", stderr: "" });
  });

  test("exec has its input, and its end", async () => {
    const child = spawn(kubectl!, ["exec", "-i", "shell", "--", "cat"], { env });
    const text = "x".repeat(100_000);
    child.stdin.end(text);
    let got = "";
    for await (const chunk of child.stdout.setEncoding("utf8")) got += chunk;
    assert.equal(got, text);
  });

  test("attach shows what the container writes", async () => {
    await cluster.client.create(Pod, {
      metadata: { name: "talks", namespace: "default" },
      spec: {
        containers: [
          { name: "c", image: "busybox", command: ["sh", "-c", "while true; do echo hello; sleep 1; done"] },
        ],
      },
    });
    await run("wait", "--for=condition=Ready", "pod/talks");
    const child = spawn(kubectl!, ["attach", "talks"], { env });
    for await (const chunk of child.stdout.setEncoding("utf8")) {
      assert.match(chunk, /hello/);
      break;
    }
    child.kill();
  });

  test("attach sends its input to a pod that kubectl run starts", async () => {
    const child = spawn(
      kubectl!,
      ["run", "reads", "--image=busybox", "--restart=Never", "-i", "--quiet", "--", "sh", "-c", "cat; echo closed"],
      { env },
    );
    child.stdin.end("one\ntwo\n");
    let got = "";
    for await (const chunk of child.stdout.setEncoding("utf8")) got += chunk;
    assert.equal(got, "one\ntwo\nclosed\n");
  });

  test("kubectl cp copies files and folders into a container and back", async () => {
    const folder = join(home, "site", "a-folder-with-a-long-name-".repeat(4));
    mkdirSync(folder, { recursive: true });
    const content = "0123456789".repeat(20_000);
    writeFileSync(join(folder, "large"), content);
    writeFileSync(join(home, "site", "small"), "hello\n");
    const copied = async (from: string, to: string) => {
      const { code, stderr } = await run("cp", from, to);
      assert.equal(code, 0, stderr);
    };
    await copied(join(home, "site"), "shell:/tmp/site");
    assert.equal((await run("exec", "shell", "--", "cat", "/tmp/site/small")).stdout, "hello\n");
    await copied("shell:/tmp/site", join(home, "back"));
    assert.equal(readFileSync(join(folder.replace("site", "back"), "large"), "utf8"), content);
    await copied("shell:/tmp/site/small", join(home, "small"));
    assert.equal(readFileSync(join(home, "small"), "utf8"), "hello\n");
  });

  test("port-forward reports that nothing listens, stream by stream", async () => {
    const child = spawn(kubectl!, ["port-forward", "shell", ":80"], { env });
    try {
      let local = 0;
      for await (const chunk of child.stdout.setEncoding("utf8")) {
        local = Number(/127\.0\.0\.1:(\d+)/.exec(chunk)?.[1] ?? 0);
        if (local) break;
      }
      await fetch(`http://127.0.0.1:${local}/`).catch(() => {});
      for await (const chunk of child.stderr.setEncoding("utf8")) {
        assert.match(chunk, /error forwarding port 80 to pod .*failed to connect to localhost:80 inside/);
        break;
      }
    } finally {
      child.kill();
    }
  });
});
