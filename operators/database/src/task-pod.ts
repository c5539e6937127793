import type { QuantityValue } from "konverge";
import {
  type Container,
  type EnvVar,
  type Job,
  type JobSpec,
  PersistentVolumeClaim,
  type PodSpec,
  type Volume,
  type VolumeMount,
} from "konverge/kinds";
import { podTemplate } from "konverge/pods";
import { type BackupPlace, placeMount, placeVolume } from "./backup-place.ts";
import type { Database } from "./database.ts";
import { engineOf } from "./engines.ts";
import { DATA, secretName } from "./names.ts";
import { SCRIPTS_FOLDER, scriptsMount, scriptsVolume } from "./scripts.ts";
import { serverImage, serverSecurity, surroundingsOf } from "./server-pod.ts";

/** Something that a pod does for a database, once: a script, and what it needs. */
export interface Task {
  /** Of the container. */
  readonly name: string;
  readonly script: string;
  readonly env: readonly EnvVar[];
  /** Where the backups are, if it reads or writes some. */
  readonly backups?: BackupPlace | undefined;
  /** The claim of the server whose data it works on, if it does. */
  readonly data?: string | undefined;
  /** Whether it only reads these data, which are in use. */
  readonly reads?: boolean;
  /** The size of an empty volume in place of a server's data, which goes with the pod. */
  readonly scratch?: QuantityValue | undefined;
  /** Default: that of the servers. */
  readonly image?: string;
  /** Containers that run before it, and what it mounts besides. */
  readonly before?: readonly Container[];
  readonly mounts?: readonly VolumeMount[];
  readonly volumes?: readonly Volume[];
  /** How often it is tried again. */
  readonly retries: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly affinity?: PodSpec["affinity"];
}

/** Where scripts write their report: lines of name=value. */
const REPORT = "/dev/termination-log";

/** A variable from the database's Secret. */
export const fromSecret = (database: Database, name: string, key: string): EnvVar => ({
  name,
  valueFrom: { secretKeyRef: { name: secretName(database), key } },
});

/** What a Job for a task runs. The image is the server's: it has the programs in the right version. */
export function taskJobSpec(database: Database, task: Task): JobSpec {
  const engine = engineOf(database);
  return {
    backoffLimit: task.retries,
    template: podTemplate(
      {
        metadata: { labels: { ...task.labels } },
        spec: {
          restartPolicy: "Never",
          ...serverSecurity(database, engine),
          ...(task.affinity && { affinity: task.affinity }),
          ...(task.before && { initContainers: [...task.before] }),
          containers: [
            {
              name: task.name,
              image: task.image ?? serverImage(database, engine),
              command: ["sh", `${SCRIPTS_FOLDER}/${task.script}`],
              env: [
                { name: "ENGINE", value: engine.name },
                { name: "SCRIPTS", value: SCRIPTS_FOLDER },
                { name: "REPORT", value: REPORT },
                ...task.env,
              ],
              resources: { requests: { cpu: "100m", memory: "256Mi" } },
              volumeMounts: [
                scriptsMount,
                ...(task.mounts ?? []),
                ...(task.backups ? [placeMount(task.backups)] : []),
                ...(task.data || task.scratch
                  ? [{ name: DATA, mountPath: engine.dataFolder, ...(task.reads && { readOnly: true }) }]
                  : []),
              ],
            },
          ],
          volumes: [
            scriptsVolume(database),
            ...(task.volumes ?? []),
            ...(task.backups ? [placeVolume(task.backups)] : []),
            ...(task.data ? [{ name: DATA, persistentVolumeClaim: { claimName: task.data } }] : []),
            ...(task.scratch
              ? [{ name: DATA, ephemeral: { volumeClaimTemplate: claimSpec(database, task.scratch) } }]
              : []),
          ],
        },
      },
      { overlay: surroundingsOf(database) },
    ),
  };
}

/** The claim of a server's data, for when no StatefulSet has made it yet. It is the same that one would make. */
export function dataClaimFor(database: Database, name: string, labels: Record<string, string>) {
  return PersistentVolumeClaim.draft({
    metadata: { name, namespace: database.metadata.namespace, labels },
    ...claimSpec(database, database.spec.size),
  });
}

function claimSpec({ spec: { storageClass } }: Database, storage: QuantityValue) {
  return {
    spec: {
      accessModes: ["ReadWriteOnce" as const],
      ...(storageClass && { storageClassName: storageClass }),
      resources: { requests: { storage } },
    },
  };
}

/** How a Job stands: undefined while it is at work. */
export function jobEnd(job: Pick<Job, "status"> | undefined): "complete" | "failed" | undefined {
  const ended = (type: string) => job?.status?.conditions?.some((one) => one.type === type && one.status === "True");
  return ended("Complete") ? "complete" : ended("Failed") ? "failed" : undefined;
}
