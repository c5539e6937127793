import assert from "node:assert/strict";
import { DaemonSet, Node, Pod, PodDisruptionBudget, ReplicaSet } from "@konverge/kinds";
import { makeNodes, placed } from "./placed.ts";
import { labelsOf, podsOf, type Stage } from "./stage.ts";

export type Kubectl = (args: string[]) => Promise<{ code: number; stdout: string; stderr: string }>;

/** A node is emptied by kubectl: what must not be lost keeps it from that, a budget for as long as it has to. */
export async function drain(stage: Stage, kubectl: Kubectl): Promise<void> {
  const { client, namespace } = stage;
  const [first, second] = await makeNodes(stage, 2);
  const selector = { matchLabels: { ...labelsOf } };
  await client.create(ReplicaSet, {
    metadata: { name: "web", namespace },
    spec: { replicas: 4, selector, template: placed(stage) },
  });
  await client.create(PodDisruptionBudget, {
    metadata: { name: "web", namespace },
    spec: { minAvailable: 4, selector },
  });
  const agent = placed(stage, { image: "agent:1" });
  const labels = { app: "agent" };
  await client.create(DaemonSet, {
    metadata: { name: "agent", namespace },
    spec: { selector: { matchLabels: labels }, template: { ...agent, metadata: { labels } } },
  });
  const alone = placed(stage, { spec: { nodeName: first } });
  await client.create(Pod, { metadata: { name: "alone", namespace, labels: { app: "alone" } }, spec: alone.spec });
  await stage.until("all run", async () => {
    const pods = await podsOf(stage);
    return pods.length === 7 && pods.every(({ status }) => status?.phase === "Running");
  });
  await stage.until("the budget counts", async () => {
    return (await client.get(PodDisruptionBudget, `${namespace}/web`)).status?.currentHealthy === 4;
  });

  const refused = await kubectl(["drain", first!]);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /cannot delete DaemonSet-managed Pods \(use --ignore-daemonsets to ignore\)/);
  assert.match(refused.stderr, /cannot delete Pods that declare no controller \(use --force to override\)/);
  assert.equal((await client.get(Node, first!)).spec?.unschedulable, true);

  const options = ["drain", first!, "--ignore-daemonsets", "--force"];
  const blocked = await kubectl([...options, "--timeout=8s"]);
  assert.equal(blocked.code, 1);
  assert.match(blocked.stderr, /Cannot evict pod as it would violate the pod's disruption budget\./);
  await client.patch(PodDisruptionBudget, `${namespace}/web`, { merge: { spec: { minAvailable: 2 } } });
  const done = await kubectl([...options, "--timeout=100s"]);
  assert.equal(done.code, 0, done.stderr);
  assert.match(done.stdout, new RegExp(`node/${first} drained`));
  await stage.until("the others have taken over", async () => {
    const web = (await podsOf(stage)).filter(({ metadata }) => metadata.labels?.["app"] === labelsOf.app);
    return (
      web.length === 4 && web.every(({ spec, status }) => spec?.nodeName === second && status?.phase === "Running")
    );
  });
  const left = (await podsOf(stage)).filter(({ spec }) => spec?.nodeName === first);
  assert.deepEqual(
    left.map(({ metadata }) => metadata.labels?.["app"]),
    ["agent"],
  );
  const back = await kubectl(["uncordon", first!]);
  assert.match(back.stdout, new RegExp(`node/${first} uncordoned`));
}
