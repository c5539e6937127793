import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { childProgram } from "@konverge/cluster";
import { Event } from "@konverge/kinds";
import { ended, type ProgramStage, programStage, until } from "./program-stage.ts";

const CHILD = [process.execPath, fileURLToPath(new URL("./child.mjs", import.meta.url))];
const never = { restartPolicy: "Never" as const };

/** The environment in which a program was started for a pod that sets these variables. */
async function environment(
  stage: ProgramStage,
  name: string,
  env: Record<string, string>,
  spec: object = {},
): Promise<Record<string, string>> {
  const variables = Object.entries(env).map(([key, value]) => ({ name: key, value }));
  const containers = [{ name: "main", image: "example/child", args: ["environment"], env: variables }];
  await stage.pod(name, { ...never, ...spec, containers });
  assert.equal((await ended(stage, name)).exitCode, 0);
  return JSON.parse((await stage.logs(name))[0]!) as Record<string, string>;
}

test("a pod cannot change what its program loads or which identity it has, and an event names the variables that were left out", async () => {
  const run = childProgram(CHILD, { env: { MODE: "registered" } });
  await using stage = await programStage({ "example/child": { run } });
  const evil = {
    LD_PRELOAD: "/tmp/evil.so",
    NODE_OPTIONS: "--import=data:text/javascript,process.exit(66)",
    PATH: "/tmp/evil",
    HOME: "/tmp/evil",
    KUBECONFIG: "/home/admin/.kube/config",
    KONVERGE_SERVICE_ACCOUNT: "/tmp/evil",
    MODE: "the pod's",
  };
  const env = await environment(stage, "evil", { ...evil, COLOR: "blue" });
  assert.deepEqual([env["LD_PRELOAD"], env["NODE_OPTIONS"]], [undefined, undefined]);
  assert.deepEqual([env["PATH"], env["HOME"]], [process.env["PATH"], process.env["HOME"]]);
  assert.ok(env["KUBECONFIG"]?.startsWith(env["KONVERGE_ROOT"]!));
  assert.ok(env["KONVERGE_SERVICE_ACCOUNT"]?.startsWith(env["KONVERGE_ROOT"]!));
  assert.deepEqual([env["MODE"], env["COLOR"]], ["registered", "blue"]);
  const { type, message } = await until("there is an event", async () => {
    const { items } = await stage.client.list(Event, { namespace: "default" });
    return items.find(({ reason }) => reason === "RefusedEnvironmentVariables");
  });
  assert.equal(type, "Warning");
  assert.match(
    message!,
    /^Container main .* a pod cannot set HOME, KONVERGE_SERVICE_ACCOUNT, KUBECONFIG, LD_PRELOAD, MODE, NODE_OPTIONS, PATH: /,
  );
});

test("a program of a pod without a token has a kubeconfig without a user, not that of the cluster's owner", async () => {
  await using stage = await programStage({ "example/child": { run: childProgram(CHILD) } });
  const env = await environment(stage, "anonymous", {}, { automountServiceAccountToken: false });
  const { users, "current-context": context } = JSON.parse(env["kubeconfig text"]!);
  assert.deepEqual([users, context], [[{ name: "pod", user: {} }], "pod"]);
});

test("a port of a pod is a port of the machine only where the program was registered for it", async () => {
  const server = createServer((socket) => socket.end("the machine's own")).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await using stage = await programStage({
    "example/child": { run: childProgram(CHILD) },
    "example/allowed": { run: childProgram(CHILD, { hostPorts: [port] }) },
  });
  const textOf = async (name: string) => {
    await using forward = await stage.client.portForward(`default/${name}`);
    let text = "";
    for await (const chunk of forward.connect(port).readable) text += Buffer.from(chunk).toString();
    return text;
  };
  try {
    for (const name of ["child", "allowed"]) {
      const ports = [{ containerPort: port }];
      await stage.pod(name, { containers: [{ name: "main", image: `example/${name}`, args: ["stubborn"], ports }] });
      await until("it runs", async () => (await stage.logs(name)).includes("here to stay"));
    }
    await assert.rejects(textOf("child"), /connect: connection refused/);
    assert.equal(await textOf("allowed"), "the machine's own");
  } finally {
    server.close();
  }
});
