import assert from "node:assert/strict";
import type { Scenario, TestEnvironment } from "@konverge/operator-suite";
import { RayCluster, rayOperator } from "@konverge/ray-operator";
import { NetworkPolicy, Pod, Secret } from "konverge/kinds";
import { sample } from "./scenarios.ts";

const withFields = (fields: string) =>
  sample("cluster").replaceAll("2.46.0", "2.53.0").replace("spec:\n", `spec:\n${fields}`);
const ready = (stage: TestEnvironment) =>
  stage.until("it is ready", async () => (await stage.condition(RayCluster, "science", "Ready")) === "True AsExpected");
const policies = async (stage: TestEnvironment) =>
  (await stage.list(NetworkPolicy)).map(({ metadata }) => metadata.name).sort();

/** A cluster gets a token, which stays, and policies, which go with the field. */
export const secured: Scenario = async (stage) => {
  await stage.start(rayOperator);
  const policy = "  networkPolicy: { head: { egressRules: [{ ports: [{ port: 53, protocol: UDP }] }] } }\n";
  await stage.apply(withFields(`  authOptions: { mode: token }\n${policy}`));
  await ready(stage);
  const token = (await stage.get(Secret, "science")).data?.["auth_token"] ?? "";
  assert.ok(Buffer.from(token, "base64").length >= 32);
  for (const name of ["science-head-0", "science-small-worker-0"]) {
    const { containers, initContainers = [] } = (await stage.get(Pod, name)).spec!;
    for (const container of [containers[0]!, ...initContainers]) {
      const variables = new Map(container.env?.map((one) => [one.name, one]));
      assert.equal(variables.get("RAY_AUTH_MODE")?.value, "token");
      assert.equal(variables.get("RAY_AUTH_TOKEN")?.valueFrom?.secretKeyRef?.name, "science");
    }
  }
  assert.deepEqual(await policies(stage), ["science-head", "science-workers-small"]);
  await stage.settled();
  assert.equal((await stage.get(Secret, "science")).data?.["auth_token"], token);
  await stage.client.patch(RayCluster, `${stage.namespace}/science`, { merge: { spec: { networkPolicy: null } } });
  await stage.until("the policies are gone", async () => (await policies(stage)).length === 0);
  await ready(stage);
};

/** Options that would leave a cluster open are refused. */
export const badSecurity: Scenario = async (stage) => {
  await stage.start(rayOperator);
  const refused = (text: string, message: RegExp) => assert.rejects(stage.apply(text), message);
  const old = sample("cluster").replace("spec:\n", "spec:\n  authOptions: { mode: token }\n");
  await refused(old, /spec\.rayVersion.*authentication needs Ray 2\.52\.0 or newer/);
  await refused(withFields("  authOptions: { enableK8sTokenAuth: true }\n"), /needs Ray 2\.55\.0 or newer/);
  await refused(
    withFields("  networkPolicy: { workerGroups: [{ groupName: large }] }\n"),
    /there is no such group of workers/,
  );
  await refused(
    withFields("").replace("groupName: small\n", "groupName: small\n      resources: { CPU: two }\n"),
    /spec\.workerGroupSpecs\[0\]\.resources/,
  );
};

/** All pods are replaced at once, or none is. */
export const replacedAtOnce: Scenario = async (stage) => {
  await stage.start(rayOperator);
  await stage.apply(withFields("  upgradeStrategy: { type: None }\n"));
  await ready(stage);
  const images = async () => (await stage.list(Pod)).map(({ spec }) => spec!.containers[0]!.image!.split(":")[1]);
  await stage.apply(withFields("  upgradeStrategy: { type: None }\n").replaceAll("2.53.0", "2.54.0"));
  await stage.settled();
  assert.deepEqual(new Set(await images()), new Set(["2.53.0"]));
  await stage.apply(withFields("  upgradeStrategy: { type: Recreate }\n").replaceAll("2.53.0", "2.54.0"));
  await stage.until("all are new", async () => {
    const all = new Set(await images());
    assert.ok(all.size < 2, "pods of both templates ran side by side");
    return all.has("2.54.0") && (await stage.list(Pod)).length === 3;
  });
  await ready(stage);
};
