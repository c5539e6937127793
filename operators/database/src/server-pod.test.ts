import assert from "node:assert/strict";
import { test } from "node:test";
import { Database } from "./database.ts";
import { statefulSetFor } from "./database-children.ts";
import { engineOf } from "./engines.ts";

function podOf(engine: "postgres" | "mysql", spec: Partial<Parameters<typeof Database.new>[0]["spec"]> = {}) {
  const database = Database.new({
    metadata: { name: "orders", namespace: "shop" },
    spec: { engine, version: "16", size: "1Gi", ...spec },
  });
  const { template } = statefulSetFor(database, engineOf(database), { replicas: 1, claimed: undefined }).spec!;
  return { pod: template.spec!, server: template.spec!.containers[0]! };
}

test("MySQL's data are in a folder of the volume, whose lost+found would keep them from being initialized", () => {
  const mount = podOf("mysql").server.volumeMounts?.find(({ mountPath }) => mountPath === "/var/lib/mysql");
  assert.deepEqual(mount, { name: "data", mountPath: "/var/lib/mysql", subPath: "mysql" });
});

test("PostgreSQL has more shared memory than a container's 64 MB, which parallel queries exceed", () => {
  const { pod, server } = podOf("postgres");
  const name = server.volumeMounts?.find(({ mountPath }) => mountPath === "/dev/shm")?.name;
  assert.deepEqual(pod.volumes?.find((volume) => volume.name === name)?.emptyDir, { medium: "Memory" });
});

test("a server that is busy has more than a second to answer its probes", () => {
  for (const engine of ["postgres", "mysql"] as const) {
    const { startupProbe, readinessProbe, livenessProbe } = podOf(engine).server;
    for (const probe of [startupProbe, readinessProbe, livenessProbe]) {
      if (probe) assert.ok((probe.timeoutSeconds ?? 1) >= 5, engine);
    }
  }
});

test("a server runs as the user of its image, on volumes that are not walked through with each mount", () => {
  const user = (engine: "postgres" | "mysql", image?: string) => {
    const { runAsUser, fsGroup, fsGroupChangePolicy } = podOf(engine, image ? { image } : {}).pod.securityContext ?? {};
    assert.deepEqual([fsGroup, fsGroupChangePolicy], [runAsUser, "OnRootMismatch"]);
    return runAsUser;
  };
  assert.deepEqual([user("postgres"), user("postgres", "postgres:16-alpine"), user("mysql")], [999, 70, 999]);
});

test("a template is merged into the servers' pods", () => {
  const { pod, server } = podOf("postgres", {
    template: { spec: { priorityClassName: "high", containers: [{ name: "database", stdin: true }] } },
  });
  assert.deepEqual([pod.priorityClassName, server.name, server.stdin], ["high", "database", true]);
});
