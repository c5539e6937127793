import { type Container, type EnvVar, Job, type VolumeMount } from "konverge/kinds";
import type { Database } from "./database.ts";
import type { DatabaseUpgrade } from "./database-upgrade.ts";
import { engineOf } from "./engines.ts";
import { configName, DATA, podName, writeServiceName } from "./names.ts";
import { RESTORE_PARTS, type RestorePart } from "./restore-jobs.ts";
import { SCRIPTS_FOLDER, scriptsMount } from "./scripts.ts";
import { fromSecret, taskJobSpec } from "./task-pod.ts";
import { majorOf } from "./version.ts";

/** On Jobs of upgrades and their pods: the DatabaseUpgrade. */
export const UPGRADE_OF = "database-upgrade";
/** The parts that are done by a Job each, in the words of a restore: `restore` upgrades the data. */
export const UPGRADE_PARTS = RESTORE_PARTS;

const RETRIES: Readonly<Record<RestorePart, number>> = { check: 1, restore: 1, undo: 3, finish: 6 };
/** Where the programs of the old version are. */
const PROGRAMS = "/programs";
const CONFIG = "/etc/database";

export const upgradeJobName = (upgrade: DatabaseUpgrade, part: RestorePart) => `${upgrade.metadata.name}-${part}`;

/** The server whose data are upgraded. */
export const upgradedServer = (upgrade: DatabaseUpgrade, database: Database) =>
  upgrade.status?.primary ?? database.status?.podName ?? podName(database);

/**
 * The Job for a part of an upgrade. It runs in the image of the new version; `check` and `restore` also need the old version's
 * programs, which a container of its image brings.
 */
export function upgradeJobFor(upgrade: DatabaseUpgrade, database: Database, part: RestorePart) {
  const { name, namespace } = upgrade.metadata;
  const { from, to } = upgrade.spec;
  const text = (variable: string, value: string): EnvVar => ({ name: variable, value });
  const env: EnvVar[] = [
    text("MODE", part),
    text("NAME", name),
    text("PGDATA", `${engineOf(database).dataFolder}/pgdata`),
    text("PROGRAMS", PROGRAMS),
    text("FROM", String(majorOf(from.version))),
    text("TO", String(majorOf(to.version))),
    text("CONFIG", CONFIG),
    ...(part === "check"
      ? [
          text("HOST", writeServiceName(database)),
          text("PORT", String(engineOf(database).port)),
          fromSecret(database, "PASSWORD", "replication-password"),
        ]
      : []),
  ];
  const needsPrograms = part === "check" || part === "restore";
  const programs: VolumeMount = { name: "programs", mountPath: PROGRAMS };
  const bring: Container = {
    name: "programs",
    image: from.image,
    command: ["sh", `${SCRIPTS_FOLDER}/upgrade.sh`],
    env: [
      text("MODE", "programs"),
      text("NAME", name),
      text("PROGRAMS", PROGRAMS),
      text("FROM", String(majorOf(from.version))),
      text("REPORT", "/dev/termination-log"),
    ],
    resources: { requests: { cpu: "100m", memory: "64Mi" } },
    volumeMounts: [scriptsMount, programs],
  };
  return Job.draft({
    metadata: { name: upgradeJobName(upgrade, part), namespace, labels: { [UPGRADE_OF]: name } },
    spec: taskJobSpec(database, {
      name: part,
      script: "upgrade.sh",
      env,
      image: to.image,
      ...(part === "check"
        ? { scratch: database.status?.storage ?? database.spec.size }
        : { data: `${DATA}-${upgradedServer(upgrade, database)}` }),
      ...(needsPrograms && {
        before: [bring],
        mounts: [programs, { name: "config", mountPath: CONFIG, readOnly: true }],
        volumes: [
          { name: "programs", emptyDir: {} },
          { name: "config", configMap: { name: configName(database) } },
        ],
      }),
      retries: RETRIES[part],
      labels: { [UPGRADE_OF]: name, "database-name": database.metadata.name },
    }),
  });
}
