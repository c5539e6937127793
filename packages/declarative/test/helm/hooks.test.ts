import assert from "node:assert/strict";
import { test } from "node:test";
import { isNotFound, type KubeObject } from "@konverge/core";
import { ConfigMap, Job } from "@konverge/kinds";
import { skip } from "./chart.ts";
import { chartFolder, conditionOf, namesOf, releaseCluster } from "./release-cluster.ts";

const hook = (
  name: string,
  events: string,
  { weight = 0, policy = "", command = "'true'" } = {},
) => `apiVersion: batch/v1
kind: Job
metadata:
  name: "{{ .Release.Name }}-${name}"
  annotations:
    helm.sh/hook: ${events}
    helm.sh/hook-weight: "${weight}"
${policy && `    helm.sh/hook-delete-policy: ${policy}`}
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      containers: [{name: hook, image: busybox, command: [${command}]}]
`;

const MAIN = `apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}-main"}
data: {value: "{{ .Values.value }}", operation: "{{ if .Release.IsUpgrade }}upgrade{{ else }}install{{ end }}"}
`;

const created = ({ metadata }: KubeObject) => Number(metadata.resourceVersion) && metadata.creationTimestamp!;

test("hooks run one after the other, before and after everything else, once for each revision", { skip }, async () => {
  using chart = chartFolder({
    "values.yaml": "value: one\n",
    "templates/main.yaml": MAIN,
    "templates/second.yaml": hook("second", "pre-install,pre-upgrade", { weight: 5 }),
    "templates/first.yaml": hook("first", "pre-install", { weight: -5, policy: "hook-succeeded" }),
    "templates/last.yaml": hook("last", "post-install, post-upgrade"),
    "templates/check.yaml": hook("check", "test"),
  });
  await using web = await releaseCluster({ chart: chart.path });
  await web.create("shop");
  const jobs = async () => (await web.client.list(Job, { namespace: "default" })).items;
  const release = await web.read("shop");
  assert.equal(release.status?.release?.phase, "deployed", JSON.stringify(release.status));
  assert.deepEqual(release.status?.release?.hooks, [
    "pre-install Job/shop-first",
    "pre-install Job/shop-second",
    "post-install Job/shop-last",
  ]);
  assert.deepEqual(namesOf(await jobs()), ["shop-last", "shop-second"]);
  const [last, second] = await jobs();
  const main = await web.client.get(ConfigMap, "default/shop-main");
  assert.ok(created(second!) <= created(main) && created(main) <= created(last!));
  assert.equal(main.data?.["operation"], "install");

  await web.change("shop", { value: "two" });
  const upgraded = await web.read("shop");
  assert.equal(upgraded.status?.release?.phase, "deployed");
  assert.deepEqual(upgraded.status?.release?.hooks, ["pre-upgrade Job/shop-second", "post-upgrade Job/shop-last"]);
  const again = await jobs();
  assert.deepEqual(namesOf(again), ["shop-last", "shop-second"]);
  assert.notEqual(again[1]!.metadata.uid, second!.metadata.uid);
  const changed = await web.client.get(ConfigMap, "default/shop-main");
  assert.deepEqual(changed.data, { value: "two", operation: "upgrade" });

  await web.client.delete(Job, "default/shop-last");
  await web.cluster.settled();
  assert.deepEqual(namesOf(await jobs()), ["shop-second"], "a hook that has run is not run again");
});

test("a hook that fails holds back the upgrade, until the values change", { skip }, async () => {
  using chart = chartFolder({
    "values.yaml": "value: one\n",
    "templates/main.yaml": MAIN,
    "templates/migrate.yaml": hook("migrate", "pre-upgrade", {
      command: '{{ if eq .Values.value "bad" }}"false"{{ else }}"true"{{ end }}',
    }).replace("image: busybox", 'image: "{{ if eq .Values.value "bad" }}failing{{ else }}busybox{{ end }}"'),
  });
  await using web = await releaseCluster({ chart: chart.path });
  await web.create("shop");
  await web.change("shop", { value: "bad" });
  const job = await web.client.get(Job, "default/shop-migrate");
  await web.client.patchStatus(Job, "default/shop-migrate", { merge: failedStatus(job) });
  await web.cluster.settled();
  const release = await web.read("shop");
  assert.match(
    conditionOf(release, "Ready"),
    /^False HookFailed: pre-upgrade Job\/shop-migrate failed/,
    JSON.stringify(release.status),
  );
  assert.match(conditionOf(release, "ReleaseFailed"), /^True UpgradeError/);
  assert.equal((await web.client.get(ConfigMap, "default/shop-main")).data?.["value"], "one");
  await web.change("shop", { value: "three" });
  assert.equal((await web.read("shop")).status?.release?.phase, "deployed");
  assert.equal((await web.client.get(ConfigMap, "default/shop-main")).data?.["value"], "three");
});

function failedStatus({ status }: Job) {
  const at = "2026-01-01T00:00:00Z";
  const condition = (type: string) => ({
    type,
    status: "True",
    reason: "BackoffLimitExceeded",
    message: "too many",
    lastProbeTime: at,
    lastTransitionTime: at,
  });
  return { status: { ...status, conditions: [condition("FailureTarget"), condition("Failed")] } };
}

test("a hook before the deletion runs while everything else is still there", { skip }, async () => {
  using chart = chartFolder({
    "values.yaml": "value: one\n",
    "templates/main.yaml": MAIN,
    "templates/backup.yaml": hook("backup", "pre-delete"),
  });
  await using web = await releaseCluster({ chart: chart.path });
  await web.create("shop");
  await web.delete("shop");
  // The hook is read every two seconds.
  await eventually(() => assert.rejects(web.read("shop"), isNotFound));
  await assert.rejects(web.client.get(ConfigMap, "default/shop-main"), isNotFound);
  assert.equal((await web.client.get(Job, "default/shop-backup")).status?.succeeded, 1);
});

async function eventually(check: () => Promise<void>): Promise<void> {
  for (let i = 0; ; i++) {
    try {
      return await check();
    } catch (error) {
      if (i > 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}
