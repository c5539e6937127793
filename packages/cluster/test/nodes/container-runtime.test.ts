import assert from "node:assert/strict";
import { test } from "node:test";
import type { Mutable } from "@konverge/core";
import { ConfigMap, type Container, type Pod, type PodSpec, Secret, Service } from "@konverge/kinds";
import { node, onNodes, type VirtualNodes } from "./virtual-nodes.ts";

const BUSYBOX = "busybox:1.37";
const NODES = [node("one")];

/** A pod with one container, or several, that is not started again. */
function once(stage: VirtualNodes, name: string, containers: Container[], more: Partial<PodSpec> = {}): Promise<Pod> {
  return stage.pod(name, { restartPolicy: "Never", containers, ...more });
}

function linesOf({ cluster }: VirtualNodes, name: string): string[] {
  const containers = cluster.kubelet.worker(`default/${name}`)?.containers ?? [];
  return containers.at(-1)?.log?.lines.map(({ text }) => text) ?? [];
}

/** Runs a script in a pod to its end; resolves to what it wrote. */
async function runs(script: string, change: (spec: Mutable<PodSpec>) => void = () => {}): Promise<string[]> {
  let lines: string[] = [];
  await onNodes(NODES, async (stage) => {
    const { client } = stage.cluster;
    const namespace = "default";
    const data = { "a.conf": "alpha", b: "beta" };
    const binaryData = { raw: Buffer.from([0xff, 0x00]).toString("base64") };
    await stage.wait(
      client.create(ConfigMap, { metadata: { name: "settings", namespace }, data, binaryData } as never),
    );
    const stringData = { password: "hunter2" };
    await stage.wait(client.create(Secret, { metadata: { name: "keys", namespace }, stringData } as never));
    const spec: Mutable<PodSpec> = { containers: [{ name: "main", image: BUSYBOX, command: ["sh", "-c", script] }] };
    change(spec);
    await once(stage, "p", spec.containers, spec);
    await stage.pass(60_000);
    lines = linesOf(stage, "p");
  });
  return lines;
}

test("a script finds its variables, from wherever they come", async () => {
  const lines = await runs("echo $PLAIN $BOTH $B $PASSWORD $NAME; echo $LIMIT", ({ containers: [main] }) => {
    Object.assign(main!, {
      resources: { limits: { memory: "64Mi" } },
      envFrom: [{ configMapRef: { name: "settings" } }],
      env: [
        { name: "PLAIN", value: "one" },
        { name: "BOTH", value: "$(PLAIN)-two" },
        { name: "B", valueFrom: { configMapKeyRef: { name: "settings", key: "b" } } },
        { name: "PASSWORD", valueFrom: { secretKeyRef: { name: "keys", key: "password" } } },
        { name: "NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
        { name: "LIMIT", valueFrom: { resourceFieldRef: { resource: "limits.memory", divisor: "1Mi" } } },
      ],
    });
  });
  assert.deepEqual(lines, ["one one-two beta hunter2 p", "64"]);
});

test("volumes hold what they are made of, with the modes that are asked for", async () => {
  const script =
    "cd /etc/config; cat a.conf; echo; stat -L -c %a a.conf; hexdump -C raw | head -n 1; ls; echo x > a.conf";
  const lines = await runs(script, (spec) => {
    spec.volumes = [{ name: "config", configMap: { name: "settings", defaultMode: 0o400 } }];
    spec.containers[0]!.volumeMounts = [{ name: "config", mountPath: "/etc/config" }];
  });
  assert.deepEqual(lines, [
    "alpha",
    "400",
    `00000000  ff 00${" ".repeat(45)}|..|`,
    "a.conf",
    "b",
    "raw",
    "sh: can't create /etc/config/a.conf: Read-only file system",
  ]);
});

test("containers of a pod share its volumes, and runAsUser limits file access", async () => {
  const lines = await runs("cat /data/greeting; id -u; echo x > /root/file; ls -ld /data | cut -c1-10", (spec) => {
    spec.securityContext = { runAsUser: 1000, fsGroup: 2000 };
    spec.volumes = [{ name: "data", emptyDir: {} }];
    const volumeMounts = [{ name: "data", mountPath: "/data" }];
    const command = ["sh", "-c", "echo hello > /data/greeting"];
    spec.initContainers = [{ name: "first", image: BUSYBOX, command, volumeMounts }];
    spec.containers[0]!.volumeMounts = volumeMounts;
  });
  assert.deepEqual(lines, ["hello", "1000", "sh: can't create /root/file: Permission denied", "drwxrwsrwx"]);
});

test("a ConfigMap that changes is updated in the volumes of running containers", () =>
  onNodes(NODES, async (stage) => {
    const { cluster } = stage;
    const { client } = cluster;
    const settings = { metadata: { name: "live", namespace: "default" }, data: { key: "old" } } as never;
    await stage.wait(client.create(ConfigMap, settings));
    const command = ["sh", "-c", "while true; do cat /c/key; echo; sleep 10; done"];
    const main = { name: "main", image: BUSYBOX, command, volumeMounts: [{ name: "c", mountPath: "/c" }] };
    const volumes = [{ name: "c", configMap: { name: "live" } }];
    await once(stage, "p", [main], { volumes });
    await stage.pass(15_000);
    await stage.wait(client.patch(ConfigMap, "default/live", { merge: { data: { key: "new" } } }));
    await stage.pass(15_000);
    const lines = linesOf(stage, "p");
    assert.equal(lines[0], "old");
    assert.equal(lines.at(-1), "new");
  }));

test("a container's termination message is the file it writes, or the end of its log when it fails", () =>
  onNodes(NODES, async (stage) => {
    const main = (name: string, script: string): Container => ({
      name,
      image: BUSYBOX,
      command: ["sh", "-c", script],
      terminationMessagePolicy: "FallbackToLogsOnError",
    });
    const containers = [
      main("file", "echo -n bye > /dev/termination-log; echo log"),
      main("log", "echo only the log; exit 3"),
      main("well", "echo fine"),
    ];
    await once(stage, "p", containers);
    await stage.pass(10_000);
    const { status } = await stage.get("p");
    const ends = status?.containerStatuses?.map(({ state }) => [
      state?.terminated?.exitCode,
      state?.terminated?.message,
    ]);
    assert.deepEqual(ends, [
      [0, "bye"],
      [3, "only the log"],
      [0, undefined],
    ]);
  }));

test("a probe asks the container itself", () =>
  onNodes(NODES, async (stage) => {
    const command = ["sh", "-c", "touch /tmp/ready; sleep 60; rm /tmp/ready; sleep 600"];
    const readinessProbe = { exec: { command: ["cat", "/tmp/ready"] }, periodSeconds: 5, failureThreshold: 1 };
    await once(stage, "p", [{ name: "main", image: BUSYBOX, command, readinessProbe }]);
    const ready = async () => (await stage.get("p")).status?.containerStatuses?.[0]?.ready;
    await stage.pass(30_000);
    assert.equal(await ready(), true);
    await stage.pass(60_000);
    assert.equal(await ready(), false);
  }));

test("names and Services lead from one pod to another", () =>
  onNodes(NODES, async (stage) => {
    const { cluster } = stage;
    const { client } = cluster;
    cluster.image("example/greeter", {
      entrypoint: ["greet"],
      commands: {
        greet: ({ network, signal }) => {
          network.listen(8080, (connection) => connection.end(`hello from ${network.hostName}\n`));
          return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
        },
      },
    });
    await stage.pod(
      "server",
      { containers: [{ name: "main", image: "example/greeter" }] },
      { labels: { app: "greeter" } },
    );
    await stage.wait(
      client.create(Service, {
        metadata: { name: "greeter", namespace: "default" },
        spec: { selector: { app: "greeter" }, ports: [{ port: 80, targetPort: 8080 }] },
      } as never),
    );
    await stage.pass(5_000);
    const command = [
      "sh",
      "-c",
      "nslookup greeter.default > /dev/null && nc greeter 80; nc greeter 81; nslookup nobody | tail -n 1",
    ];
    await once(stage, "asks", [{ name: "main", image: BUSYBOX, command }]);
    await stage.pass(30_000);
    const [first, second] = linesOf(stage, "asks");
    assert.equal(first, "hello from server");
    assert.match(second ?? "", /Connection refused/);
  }));

test("a container whose command is unknown only seems to run", () =>
  onNodes(NODES, async (stage) => {
    const command = ["sh", "-c", "python train.py && cp model /out"];
    await once(stage, "p", [{ name: "main", image: "example/trainer", command }]);
    await stage.pass(60_000);
    assert.equal((await stage.get("p")).status?.phase, "Running");
  }));
