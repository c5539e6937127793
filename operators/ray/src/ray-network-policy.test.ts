import assert from "node:assert/strict";
import { test } from "node:test";
import { RayCluster } from "./ray-cluster.ts";
import { networkPoliciesFor } from "./ray-network-policy.ts";
import { originLabels } from "./ray-origin.ts";

const template = { spec: { containers: [{ name: "ray", image: "rayproject/ray:2.53.0" }] } };
const clusterWith = (networkPolicy: RayCluster["spec"]["networkPolicy"], labels: Record<string, string> = {}) =>
  RayCluster.new({
    metadata: { name: "c", namespace: "team", labels },
    spec: {
      networkPolicy,
      headGroupSpec: { template },
      workerGroupSpecs: [
        { groupName: "small", template },
        { groupName: "large", template },
      ],
    },
  });
const dns = { ports: [{ protocol: "UDP" as const, port: 53 }] };
const inside = { podSelector: { matchLabels: { "ray.io/cluster": "c" } } };

test("everything is denied except within the cluster, and what rules allow; those of a group go before those of all", () => {
  const policies = networkPoliciesFor(
    clusterWith({ worker: { egressRules: [dns] }, workerGroups: [{ groupName: "large" }] }),
  );
  assert.deepEqual(
    policies.map(({ metadata, spec }) => [metadata.name, spec?.policyTypes, spec?.ingress, spec?.egress]),
    [
      ["c-head", ["Ingress", "Egress"], [{ from: [inside] }], [{ to: [inside] }]],
      ["c-workers-small", ["Ingress", "Egress"], [{ from: [inside] }], [{ to: [inside] }, dns]],
      ["c-workers-large", ["Ingress", "Egress"], [{ from: [inside] }], [{ to: [inside] }]],
    ],
  );
  assert.deepEqual(policies[1]?.spec?.podSelector?.matchLabels, {
    "ray.io/cluster": "c",
    "ray.io/node-type": "worker",
    "ray.io/group": "small",
  });
});

test("a mode that denies one direction leaves the other alone", () => {
  const [head] = networkPoliciesFor(clusterWith({ mode: "DenyAllIngress" }));
  assert.deepEqual([head?.spec?.policyTypes, head?.spec?.egress], [["Ingress"], undefined]);
});

test("the pod that submits a job reaches the dashboard of its cluster", () => {
  const [head] = networkPoliciesFor(clusterWith({}, originLabels("RayJob", "census")));
  assert.deepEqual(head?.spec?.ingress?.[1], {
    from: [{ podSelector: { matchLabels: originLabels("RayJob", "census") } }],
    ports: [{ protocol: "TCP", port: 8265 }],
  });
});
