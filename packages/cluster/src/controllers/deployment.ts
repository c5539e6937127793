import { createHash } from "node:crypto";
import { Deployment, ReplicaSet } from "@konverge/kinds";
import { controller } from "@konverge/runtime";

const HASH_LABEL = "pod-template-hash";

/** Keeps a ReplicaSet for the template of each Deployment. */
export const deployments = controller(Deployment, {
  name: "deployment-controller",
  owns: [ReplicaSet],
  async reconcile(deployment, { observed, client }) {
    const wanted = replicaSetFor(deployment);
    const all = observed.all(ReplicaSet);
    const current = all.find(({ metadata }) => metadata.name === wanted.metadata.name);
    if (!current) await client.create(ReplicaSet, wanted);
    else if (current.spec?.replicas !== wanted.spec?.replicas) {
      await client.patch(ReplicaSet, `${current.metadata.namespace}/${current.metadata.name}`, {
        merge: { spec: { replicas: wanted.spec!.replicas } },
      });
    }
    const sum = (field: "replicas" | "readyReplicas" | "availableReplicas") =>
      all.reduce((total, { status }) => total + (status?.[field] ?? 0), 0);
    return {
      status: {
        replicas: sum("replicas"),
        updatedReplicas: current?.status?.replicas ?? 0,
        readyReplicas: sum("readyReplicas"),
        availableReplicas: sum("availableReplicas"),
      },
    };
  },
});

function replicaSetFor(deployment: Deployment): ReplicaSet {
  const { name, namespace, uid } = deployment.metadata;
  const { replicas, template, selector } = deployment.spec!;
  const hash = createHash("sha256").update(JSON.stringify(template)).digest("hex").slice(0, 10);
  const labels = { ...template.metadata?.labels, [HASH_LABEL]: hash };
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: {
      name: `${name}-${hash}`,
      namespace,
      labels,
      ownerReferences: [
        { apiVersion: "apps/v1", kind: "Deployment", name, uid: uid!, controller: true, blockOwnerDeletion: true },
      ],
    },
    spec: {
      replicas,
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [HASH_LABEL]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
}
