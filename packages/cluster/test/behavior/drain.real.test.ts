import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { connect } from "@konverge/client";
import { startCluster } from "@konverge/cluster";
import { Namespace } from "@konverge/kinds";
import { findControlPlane, startRealCluster } from "@konverge/real";
import { drain, type Kubectl } from "./drain.ts";
import { kwokPods } from "./kwok-pods.ts";
import { realTimeStage } from "./stages.ts";

const plane = findControlPlane();
const options = { skip: plane.available ? false : plane.why, timeout: 300_000 };
const namespace = "stage";

test("kubectl drains a node of the embedded cluster", options, async (t) => {
  await using cluster = await startCluster({ nodes: [] });
  await using port = await cluster.listen();
  const folder = mkdtempSync(join(tmpdir(), "konverge-drain-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, port.kubeconfig());
  const path = plane.available ? plane.assets.kubectl! : "";
  const kubectl: Kubectl = (args) =>
    new Promise((resolve) => {
      const env = { HOME: folder, KUBECONFIG: kubeconfig };
      execFile(path, args, { env }, (error, stdout, stderr) => resolve({ code: error ? 1 : 0, stdout, stderr }));
    });
  await cluster.client.create(Namespace, { metadata: { name: namespace } });
  await drain(realTimeStage(cluster.client, namespace), kubectl);
});

test("kubectl drains a node of a real control plane", options, async () => {
  await using cluster = await startRealCluster({
    controllers: true,
    scheduler: true,
    kwok: { nodes: 0 },
    podStages: kwokPods,
  });
  await using client = await connect({ kubeconfig: cluster.kubeconfig });
  await client.create(Namespace, { metadata: { name: namespace } });
  const stage = realTimeStage(client, namespace);
  await drain(stage, (args) => cluster.kubectl(args));
});
