import assert from "node:assert/strict";
import type { ConfigMap, PodSpec, Secret } from "konverge/kinds";
import { withPostgres } from "./postgres.ts";

withPostgres("a room has servers side by side, as a user that is not root", async (room) => {
  const [one, two] = await Promise.all([room.newData("one"), room.newData("two")]);
  const servers = await Promise.all([room.startServer(one), room.startServer(two)]);
  assert.notEqual(servers[0].port, servers[1].port);
  assert.equal(await room.query(servers[0].port, "one", "select 1 + 1"), "2");
  assert.equal(await room.query(servers[1].port, "two", "show data_directory"), two);
  await assert.rejects(room.query(servers[0].port, "two", "select 1"), /password authentication failed/);
  await room.stopServer(servers[0]);
});

withPostgres("a container is run as it was rendered, with folders, variables and scripts", async (room) => {
  const pod: PodSpec = {
    containers: [
      {
        name: "task",
        command: ["sh", "/scripts/task.sh", "/data/in"],
        env: [
          { name: "OUT", value: "/data/out" },
          { name: "KEY", valueFrom: { secretKeyRef: { name: "keys", key: "key" } } },
          { name: "HOST", value: "orders.shop.svc" },
          { name: "REPORT", value: "/dev/termination-log" },
        ],
        volumeMounts: [
          { name: "scripts", mountPath: "/scripts" },
          { name: "data", mountPath: "/data" },
        ],
      },
    ],
    volumes: [{ name: "scripts", configMap: { name: "scripts" } }],
  };
  const scripts: ConfigMap = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "scripts" },
    data: { "task.sh": 'echo "$1 $OUT $KEY $HOST $(id -u)"\necho done > "$REPORT"\nexit 3\n' },
  };
  const keys: Secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "keys" },
    data: { key: Buffer.from("secret").toString("base64") },
  };
  const data = room.folder("volume");
  const { code, output, report } = await room.runContainer(pod, "task", {
    configMaps: [scripts],
    secrets: [keys],
    folders: { "/data": data },
    env: { HOST: "127.0.0.1" },
  });
  assert.equal(code, 3);
  const [input, out, key, host, user] = output.trim().split(" ");
  assert.deepEqual([input, out, key, host], [`${data}/in`, `${data}/out`, "secret", "127.0.0.1"]);
  assert.notEqual(user, "0");
  assert.equal(report, "done\n");
});
