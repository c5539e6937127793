import type { Client } from "@konverge/client";
import { type KubeObject, keyOf } from "@konverge/core";
import type { Operator } from "@konverge/runtime";
import { activityFindings } from "./activity-checks.ts";
import { certificateFindings } from "./certificate-checks.ts";
import { examine } from "./examined-objects.ts";
import type { Finding } from "./finding.ts";
import { finalizerFindings, pausedFindings, readinessFindings } from "./object-checks.ts";
import { permissionFindings } from "./permission-checks.ts";
import { versionFindings } from "./version-checks.ts";
import { webhookFindings } from "./webhook-checks.ts";

export interface DoctorOptions {
  /** `KIND/NAME`: only this object and what it owns, besides what concerns all. */
  readonly object?: string;
  readonly namespace: string;
  /** Milliseconds in which writes are watched. */
  readonly observe: number;
  /** Those of the project: their permissions and definitions are checked. */
  readonly operators: readonly Operator[];
}

/** Examines a cluster, and returns what is wrong with it, each with what to do. Nothing is written. */
export async function doctor(client: Client, options: DoctorOptions): Promise<Finding[]> {
  const { clock } = client;
  const examined = await examine(client, options.object, options.namespace);
  const own = new Set(examined.objects.map(identity));
  const isExamined = (object: KubeObject) => options.object === undefined || own.has(identity(object));
  return [
    ...(await permissionFindings(client, options.operators)),
    ...(await webhookFindings(client, examined.crds)),
    ...(await certificateFindings(client)),
    ...(await versionFindings(client, examined.crds, options.operators)),
    ...finalizerFindings(examined, clock),
    ...pausedFindings(examined),
    ...readinessFindings(examined, clock),
    ...(options.observe > 0 ? await activityFindings(client, examined.kinds, options.observe, isExamined) : []),
  ];
}

const identity = (object: KubeObject) => object.metadata.uid ?? `${object.kind} ${keyOf(object)}`;
