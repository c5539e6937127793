import { LeaderWorkerSet } from "@konverge/dynamo-operator";
import { installForeignKind } from "@konverge/operator-suite";
import type { TestEnvironment } from "@konverge/testing";
import { conditionFalse, conditionTrue, controller, operator } from "konverge";
import { Pod, type PodTemplateSpec } from "konverge/kinds";

const isReady = ({ status }: Pod) => status?.conditions?.some((one) => one.type === "Ready" && one.status === "True");

/**
 * A stand-in for the controller of LeaderWorkerSets, as far as pods and status go: a leader and its workers for each replica.
 * It replaces, restarts and places nothing.
 */
const leaderWorkerSets = controller(LeaderWorkerSet, {
  owns: [Pod],
  reconcile({ metadata: { name, namespace = "" }, spec }, { observed }) {
    const { size, leaderTemplate, workerTemplate } = spec.leaderWorkerTemplate;
    const podOf = (replica: number, worker: number) => {
      const template = worker === 0 ? (leaderTemplate ?? workerTemplate) : workerTemplate;
      const leader = `${name}-${replica}`;
      return podFrom(template, {
        name: worker === 0 ? leader : `${leader}-${worker}`,
        namespace,
        labels: {
          ...template.metadata?.labels,
          "leaderworkerset.sigs.k8s.io/name": name,
          "leaderworkerset.sigs.k8s.io/group-index": String(replica),
          "leaderworkerset.sigs.k8s.io/worker-index": String(worker),
        },
      });
    };
    const groups = Array.from({ length: spec.replicas }, (_, replica) =>
      Array.from({ length: size }, (_, worker) => podOf(replica, worker)),
    );
    const ready = groups.filter((pods) => pods.every((pod) => isReady(observed(pod) ?? ({} as Pod)))).length;
    const isDone = ready === spec.replicas;
    return {
      children: groups.flat(),
      status: { replicas: spec.replicas, readyReplicas: ready, updatedReplicas: spec.replicas } as never,
      conditions: {
        Available: isDone ? conditionTrue("AllGroupsReady") : conditionFalse("GroupsNotReady"),
        Progressing: isDone ? conditionFalse("AsExpected") : conditionTrue("GroupsProgressing"),
      },
    };
  },
});

const podFrom = ({ metadata, spec }: PodTemplateSpec, own: { name: string; namespace: string; labels: object }) =>
  Pod.draft({
    metadata: {
      ...own,
      labels: own.labels as Record<string, string>,
      ...(metadata?.annotations && { annotations: metadata.annotations }),
    },
    spec: spec!,
  });

/** Installs LeaderWorkerSets with that stand-in. */
export async function startLeaderWorkerSets(stage: TestEnvironment): Promise<void> {
  await installForeignKind(stage, LeaderWorkerSet);
  await stage.start(
    operator({
      name: "leader-worker-sets",
      description: "Makes the pods of LeaderWorkerSets.",
      kinds: [],
      create: () => ({ controllers: [leaderWorkerSets] }),
    }),
  );
}
