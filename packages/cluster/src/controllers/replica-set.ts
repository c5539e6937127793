import { Pod, ReplicaSet } from "@konverge/kinds";
import { controller } from "@konverge/runtime";

/** Keeps as many Pods as each ReplicaSet asks for. */
export const replicaSets = controller(ReplicaSet, {
  name: "replicaset-controller",
  owns: [Pod],
  async reconcile(set, { observed, client }) {
    const pods = observed.all(Pod).filter((pod) => !pod.metadata.deletionTimestamp);
    const wanted = set.spec?.replicas ?? 1;
    for (let missing = wanted - pods.length; missing > 0; missing--) await client.create(Pod, podFor(set));
    for (const pod of pods.slice(wanted)) await client.delete(Pod, `${pod.metadata.namespace}/${pod.metadata.name}`);
    const ready = pods.filter((pod) =>
      pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True"),
    );
    return { status: { replicas: pods.length, readyReplicas: ready.length, availableReplicas: ready.length } };
  },
});

function podFor(set: ReplicaSet) {
  const { name, namespace, uid } = set.metadata;
  const template = set.spec!.template!;
  return {
    apiVersion: "v1" as const,
    kind: "Pod" as const,
    metadata: {
      ...template.metadata,
      generateName: `${name}-`,
      namespace,
      ownerReferences: [
        { apiVersion: "apps/v1", kind: "ReplicaSet", name, uid: uid!, controller: true, blockOwnerDeletion: true },
      ],
    },
    spec: template.spec!,
  };
}
