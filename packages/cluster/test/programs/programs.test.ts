import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Client, connect, inClusterConfig } from "@konverge/client";
import { childProgram, type Program } from "@konverge/cluster";
import { realClock, sleep } from "@konverge/core";
import { ConfigMap, Event, Pod, Role, RoleBinding, Secret, ServiceAccount } from "@konverge/kinds";
import { ended, programStage, until, webProgram } from "./program-stage.ts";

const IDENTITY = "/var/run/secrets/kubernetes.io/serviceaccount";
const CHILD = fileURLToPath(new URL("./child.mjs", import.meta.url));
const child = { run: childProgram([process.execPath, CHILD]) };
const once = { restartPolicy: "Never" as const };

test("a program has its container's args, environment and files; its output is the log, its result the exit code", async () => {
  let folder = "";
  const describe: Program = async (container) => {
    const { args, env, files, write } = container;
    folder = await container.folder();
    write(`args ${args.join(" ")}\n`);
    write(`env ${env["COLOUR"]} ${env["NODE"]}\n`);
    write(`files ${files.get("/etc/settings/mode")} ${files.get("/etc/secret/word")}\n`);
    write(`disk ${readFileSync(join(folder, "/etc/settings/mode"), "utf8")}\n`);
    return 4;
  };
  await using stage = await programStage({ "example/describe": { run: describe } });
  const { client } = stage;
  await client.create(ConfigMap, { metadata: { name: "settings" }, data: { mode: "fast", colour: "red" } });
  await client.create(Secret, { metadata: { name: "secret" }, stringData: { word: "mum" } });
  await stage.pod("describe", {
    ...once,
    containers: [
      {
        name: "main",
        image: "example/describe:v1",
        args: ["--colour", "$(COLOUR)"],
        env: [
          { name: "COLOUR", valueFrom: { configMapKeyRef: { name: "settings", key: "colour" } } },
          { name: "NODE", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } },
        ],
        volumeMounts: [
          { name: "settings", mountPath: "/etc/settings" },
          { name: "secret", mountPath: "/etc/secret" },
        ],
      },
    ],
    volumes: [
      { name: "settings", configMap: { name: "settings" } },
      { name: "secret", secret: { secretName: "secret" } },
    ],
  });
  assert.equal((await ended(stage, "describe")).exitCode, 4);
  assert.deepEqual(await stage.logs("describe"), [
    "args --colour red",
    "env red node-1",
    "files fast mum",
    "disk fast",
  ]);
  assert.ok(!existsSync(folder), "what was made for the container is gone with it");
});

test("a pod that gets an annotation has its ConfigMaps and its downward API brought up to date at once", async () => {
  const watch: Program = async ({ files, write, stop }) => {
    while (!stop.aborted && files.get("/etc/settings/mode") !== "slow") await sleep(realClock(), 10);
    write(`${files.get("/etc/settings/mode")} ${files.get("/etc/pod/term")}\n`);
  };
  await using stage = await programStage({ "example/watch": { run: watch } });
  const { client } = stage;
  await client.create(ConfigMap, { metadata: { name: "settings" }, data: { mode: "fast" } });
  await stage.pod("watch", {
    ...once,
    containers: [
      {
        name: "main",
        image: "example/watch:v1",
        volumeMounts: [
          { name: "settings", mountPath: "/etc/settings" },
          { name: "pod", mountPath: "/etc/pod" },
        ],
      },
    ],
    volumes: [
      { name: "settings", configMap: { name: "settings" } },
      {
        name: "pod",
        downwardAPI: { items: [{ path: "term", fieldRef: { fieldPath: "metadata.annotations['term']" } }] },
      },
    ],
  });
  await until("the program runs", async () => (await client.get(Pod, "default/watch")).status?.phase === "Running");
  await client.patch(ConfigMap, "default/settings", { merge: { data: { mode: "slow" } } });
  await client.patch(Pod, "default/watch", { merge: { metadata: { annotations: { term: "2" } } } });
  assert.equal((await ended(stage, "watch")).exitCode, 0);
  assert.deepEqual(await stage.logs("watch"), ["slow 2"]);
});

test("a client in a program acts as the pod's service account, and may do what its role says", async () => {
  const act: Program = async (container) => {
    const config = await inClusterConfig(container.env, join(await container.folder(), IDENTITY));
    await using client = await connect({ config });
    container.write(`${(await client.whoAmI()).username} in ${client.namespace}\n`);
    const { items } = await client.list(ConfigMap, { namespace: "default" });
    container.write(`${items.length > 0}\n`);
    await client.list(Secret, { namespace: "default" }).catch((error: Error) => container.write(`${error.message}\n`));
  };
  await using stage = await programStage({ "example/act": { run: act } });
  const { client } = stage;
  await client.create(ServiceAccount, { metadata: { name: "actor" } });
  await client.create(Role, {
    metadata: { name: "actor" },
    rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list"] }],
  });
  await client.create(RoleBinding, {
    metadata: { name: "actor" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "actor" },
    subjects: [{ kind: "ServiceAccount", name: "actor", namespace: "default" }],
  });
  await stage.pod("act", {
    ...once,
    serviceAccountName: "actor",
    containers: [{ name: "main", image: "example/act" }],
  });
  assert.equal((await ended(stage, "act")).exitCode, 0);
  const user = "system:serviceaccount:default:actor";
  const lines = await stage.logs("act");
  assert.deepEqual(lines.slice(0, 2), [`${user} in default`, "true"]);
  assert.match(lines[2]!, new RegExp(`^secrets is forbidden: User "${user}" cannot list resource "secrets"`));
});

test("a process of this machine plays a container: args, environment, files, both outputs, exit code", async () => {
  await using stage = await programStage({ "example/child": child });
  await stage.client.create(ConfigMap, { metadata: { name: "settings" }, data: { mode: "slow" } });
  await stage.pod("tell", {
    ...once,
    containers: [
      {
        name: "main",
        image: "example/child",
        args: ["tell", "you"],
        env: [{ name: "COLOUR", value: "blue" }],
        volumeMounts: [
          { name: "settings", mountPath: "/etc/settings" },
          { name: "scratch", mountPath: "/scratch" },
        ],
      },
    ],
    volumes: [
      { name: "settings", configMap: { name: "settings" } },
      { name: "scratch", emptyDir: {} },
    ],
  });
  assert.equal((await ended(stage, "tell")).exitCode, 7);
  const lines = await stage.logs("tell");
  assert.deepEqual(
    lines.filter((line) => line !== "to stderr"),
    ["args tell you", "env blue", "file slow"],
  );
  assert.ok(lines.includes("to stderr"));
});

test("a process reaches the cluster with nothing but what a pod has", async () => {
  await using stage = await programStage({ "example/child": child });
  await stage.pod("who", { ...once, containers: [{ name: "main", image: "example/child", args: ["who"] }] });
  assert.equal((await ended(stage, "who")).exitCode, 0);
  assert.deepEqual(await stage.logs("who"), ["system:serviceaccount:default:default", "default"]);
});

test("a process gets SIGTERM, has its grace period, and no more", async () => {
  await using stage = await programStage({ "example/child": child });
  const ports = [{ name: "http", containerPort: 8080 }];
  await stage.pod("polite", { containers: [{ name: "main", image: "example/child", args: ["serve"], ports }] });
  await stage.pod("stubborn", {
    terminationGracePeriodSeconds: 1,
    containers: [{ name: "main", image: "example/child", args: ["stubborn"] }],
  });
  await until("both run", async () => {
    const [one, two] = [await stage.logs("polite"), await stage.logs("stubborn")];
    return one.includes("listening") && two.includes("here to stay");
  });
  const exits = new Map<string, number>();
  const watch = stage.client.watch(Pod, { namespace: "default" });
  const watched = (async () => {
    for await (const event of watch) {
      if (!("object" in event)) continue;
      const { metadata, status } = event.object as Pod;
      const { exitCode } = status?.containerStatuses?.[0]?.state?.terminated ?? {};
      if (exitCode !== undefined) exits.set(metadata.name, exitCode);
      if (exits.size === 2) return;
    }
  })();
  await stage.client.delete(Pod, "polite");
  await stage.client.delete(Pod, "stubborn");
  await watched;
  assert.deepEqual(Object.fromEntries(exits), { polite: 3, stubborn: 137 });
});

test("a command that cannot be started fails its container and says why", async () => {
  await using stage = await programStage({ "example/none": { run: childProgram(["/no/such/program"]) } });
  await stage.pod("none", { ...once, containers: [{ name: "main", image: "example/none" }] });
  assert.equal((await ended(stage, "none")).exitCode, 1);
  assert.match((await stage.logs("none")).join("\n"), /spawn \/no\/such\/program ENOENT/);
});

test("probes run against the program: it becomes ready when they succeed, and restarts when liveness fails", async () => {
  let [isReady, isWell, starts] = [false, true, 0];
  const web = webProgram(({ url }, response) => {
    response.statusCode = (url === "/ready" ? isReady : isWell) ? 200 : 503;
    response.end();
  });
  const serve: Program = (container) => {
    starts++;
    isWell = true;
    return web(container);
  };
  await using stage = await programStage({ "example/serve": { run: serve } });
  const probe = (path: string) => ({ httpGet: { path, port: "http" }, periodSeconds: 1, failureThreshold: 1 });
  await stage.pod("serve", {
    containers: [
      {
        name: "main",
        image: "example/serve",
        ports: [{ name: "http", containerPort: 80 }],
        readinessProbe: probe("/ready"),
        livenessProbe: { ...probe("/well"), failureThreshold: 2 },
      },
    ],
  });
  const status = async () => (await stage.get("serve")).status?.containerStatuses?.[0];
  await until("it runs but is not ready", async () => {
    const { items } = await stage.client.list(Event, { namespace: "default" });
    const isReported = items.some(
      ({ message }) => message === "Readiness probe failed: HTTP probe failed with statuscode: 503",
    );
    return isReported && (await status())?.ready === false && (await status())?.started;
  });
  isReady = true;
  await until("it is ready", async () => (await status())?.ready);
  isWell = false;
  await until("it has been started anew", async () => (await status())?.restartCount === 1 && starts === 2);
});

test("a program has the machine's time to answer a probe, however fast the cluster's passes", async () => {
  const serve = webProgram((_, response) => {
    realClock().after(100, () => response.end(), { label: "an answer that takes its time" });
  });
  await using stage = await programStage({ "example/serve": { run: serve } }, { scale: 100 });
  const readinessProbe = { httpGet: { port: 80 }, periodSeconds: 10 };
  await stage.pod("serve", { containers: [{ name: "main", image: "example/serve", readinessProbe }] });
  await until("it is ready", async () => (await stage.get("serve")).status?.containerStatuses?.[0]?.ready);
});

test("a program that was running in the original cluster is restarted in its fork", async () => {
  let starts = 0;
  const wait: Program = async ({ stop, write }) => {
    starts++;
    write(`start ${starts}\n`);
    await new Promise((resolve) => stop.addEventListener("abort", resolve, { once: true }));
  };
  await using stage = await programStage({ "example/wait": { run: wait } });
  await stage.pod("wait", { containers: [{ name: "main", image: "example/wait" }] });
  await until("it runs", async () => (await stage.get("wait")).status?.phase === "Running" && starts === 1);
  await using heir = await stage.cluster.fork();
  const client = new Client(heir.server.transport, { clock: heir.clock });
  await until("it runs again", async () => {
    const found = (await client.get(Pod, "default/wait")).status?.containerStatuses?.[0];
    return starts === 2 && found?.restartCount === 1 && found.lastState?.terminated?.exitCode === 255;
  });
});

test("a program that ends with its cluster is not started again", async () => {
  let [starts, folder] = [0, ""];
  const wait: Program = async ({ stop, folder: files }) => {
    starts++;
    folder = await files();
    await new Promise((resolve) => stop.addEventListener("abort", resolve, { once: true }));
  };
  const stage = await programStage({ "example/wait": { run: wait } });
  await stage.pod("wait", { containers: [{ name: "main", image: "example/wait" }] });
  await until("it runs", async () => folder !== "");
  await stage[Symbol.asyncDispose]();
  assert.equal(starts, 1);
  assert.ok(!existsSync(folder));
});
