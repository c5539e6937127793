import type { KubeObject, ObjectKey } from "@konverge/core";
import { PersistentVolumeClaim, Pod, ResourceQuota, Service } from "@konverge/kinds";
import { valueChanged, watchKind } from "@konverge/runtime";
import { builtInController } from "../../parts/built-in-controller.ts";
import { type ComponentContext, controllersComponent } from "../../parts/part.ts";
import { changedStatus } from "../workloads/status.ts";
import { usedOf } from "./usage.ts";

const NAME = "resourcequota-controller";
/** Kinds that were added after the first quota have no watch: they are recounted at this interval, in milliseconds. */
const RESYNC = 300_000;

/** What is used of these depends on what is in them, not only on how many there are. */
const MEASURED = [PersistentVolumeClaim, Service];

/** There are many of them, and quotas rarely limit them. */
const UNCOUNTED = new Set(["Event", "Lease", "Endpoints", "EndpointSlice", "Pod", "ResourceQuota"]);

function quotaController({ kinds }: ComponentContext) {
  const known = new Map<string, Set<ObjectKey>>();
  const isMeasured = (name: string) => MEASURED.some((kind) => kind.kind === name);
  const counted = kinds
    .all()
    .filter(({ namespaced, verbs }) => namespaced && verbs.includes("watch"))
    .filter(({ kind }) => !UNCOUNTED.has(kind) && !isMeasured(kind));
  const quotasIn = ({ metadata }: KubeObject) => [...(known.get(metadata.namespace ?? "") ?? [])];
  return builtInController(ResourceQuota, {
    name: NAME,
    resync: RESYNC,
    when({ type, key, object }) {
      const { namespace = "" } = object.metadata;
      if (type === "deleted") known.get(namespace)?.delete(key);
      else known.set(namespace, (known.get(namespace) ?? new Set()).add(key));
      return true;
    },
    watches: [
      watchKind<Pod, ResourceQuota>(Pod, { to: quotasIn, when: valueChanged((pod: Pod) => pod.status?.phase) }),
      ...MEASURED.map((kind) => watchKind<KubeObject, ResourceQuota>(kind, { to: quotasIn })),
      ...counted.map((kind) =>
        watchKind<KubeObject, ResourceQuota>(kind, { to: quotasIn, when: ({ type }) => type !== "changed" }),
      ),
    ],
    async reconcile(quota, context) {
      const hard = quota.spec?.hard ?? {};
      const used = await usedOf(context.client, kinds, quota);
      return changedStatus(quota, { hard, used });
    },
  });
}

/** Keeps the status of ResourceQuotas. */
export const resourceQuotas = controllersComponent(NAME, [ResourceQuota], (context) => [quotaController(context)]);
