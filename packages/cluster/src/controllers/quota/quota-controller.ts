import type { KubeObject, ObjectKey } from "@konverge/core";
import {
  ConfigMap,
  PersistentVolumeClaim,
  Pod,
  ReplicationController,
  ResourceQuota,
  Secret,
  Service,
} from "@konverge/kinds";
import { changed, watch } from "@konverge/runtime";
import { builtInController } from "../../parts/built-in-controller.ts";
import { controllersPart, type PartContext } from "../../parts/part.ts";
import { writeStatus } from "../workloads/status.ts";
import { usageOf } from "./usage.ts";

const NAME = "resourcequota-controller";
/** Kinds that nobody watches here are counted anew this often. */
const RESYNC = 300_000;

function quotaController({ kinds }: PartContext) {
  const known = new Map<string, Set<ObjectKey>>();
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
      watch<Pod, ResourceQuota>(Pod, { to: quotasIn, when: changed((pod: Pod) => pod.status?.phase) }),
      ...[ConfigMap, PersistentVolumeClaim, ReplicationController, Secret, Service].map((kind) =>
        watch<KubeObject, ResourceQuota>(kind, { to: quotasIn }),
      ),
    ],
    async reconcile(quota, context) {
      const hard = quota.spec?.hard ?? {};
      const used = await usageOf(context.client, kinds, quota);
      await writeStatus(context, ResourceQuota, quota, { hard, used });
      return undefined;
    },
  });
}

/** Keeps the status of ResourceQuotas. */
export const resourceQuotas = controllersPart(NAME, [ResourceQuota], (context) => [quotaController(context)]);
