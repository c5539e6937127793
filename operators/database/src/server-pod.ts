import type { Affinity, Container, EnvVar, PodSpec, Volume, VolumeMount } from "konverge/kinds";
import { type PodTemplateOverlay, sameNodeAffinity } from "konverge/pods";
import { applicationEnvironment, applicationMounts, applicationVolumes } from "./application.ts";
import type { Database } from "./database.ts";
import { DECLARED_FOLDER, declaredMounts, declaredVolumes } from "./declared.ts";
import type { Engine } from "./engines.ts";
import { configName, DATA, labelsOf, secretName, topologyName } from "./names.ts";
import { SCRIPTS_FOLDER, scriptsMount, scriptsVolume } from "./scripts.ts";
import { FENCE_SECONDS } from "./self-fencing.ts";
import { tlsEnvironment, tlsMounts, tlsVolumes } from "./server-tls.ts";
import { rolledRelease } from "./version.ts";
import { archiveEnvironment, archiveMounts, archiveVolumes } from "./wal-archive.ts";

/** The container of the server, in each of its pods. */
export const SERVER = "database";
export const EXPORTER_PORT = 9187;

const CONFIG_FOLDER = "/etc/database";
const CREDENTIALS_FOLDER = "/credentials";
const TOPOLOGY_FOLDER = "/topology";
/** Sockets, and the files that the scripts of a pod share. */
const RUN_FOLDER = "/run/database";
/** Long enough for the checkpoint of a large server that stops: without it, a server recovers when it starts. */
const GRACE_SECONDS = 1_800;
/** What remains of it when a server that does not stop is ended. */
const LAST_SECONDS = 60;

/** The users `postgres` and `mysql` of the official images. */
const POSTGRES_USER = { debian: 999, alpine: 70 };
const MYSQL_USER = 999;

/** The image of a server, and of what is done with its files. */
export const serverImage = (database: Database, engine: Engine): string =>
  rolledRelease(database, (version) => officialImage(engine, version)).image;

export const officialImage = (engine: Engine, version: string) => `${engine.name}:${version}`;

/** Files of a server belong to one user, who is not root. */
export function serverSecurity(database: Database, engine: Engine): Pick<PodSpec, "securityContext"> {
  const user = database.spec.runAsUser ?? officialUser(serverImage(database, engine), engine);
  return {
    securityContext: {
      runAsUser: user,
      runAsGroup: user,
      fsGroup: user,
      // A volume whose root has the group already is not walked through with each mount.
      fsGroupChangePolicy: "OnRootMismatch",
      runAsNonRoot: true,
    },
  };
}

function officialUser(image: string, engine: Engine): number {
  if (engine.name === "mysql") return MYSQL_USER;
  return image.includes("alpine") ? POSTGRES_USER.alpine : POSTGRES_USER.debian;
}

/** What of the user's template holds for pods that run something else than a server: where they run, and as whom. */
export function surroundingsOf({ spec: { template } }: Database): PodTemplateOverlay | undefined {
  if (!template?.spec) return undefined;
  const { nodeSelector, tolerations, imagePullSecrets, priorityClassName } = template.spec;
  const { serviceAccountName, schedulerName, runtimeClassName } = template.spec;
  return {
    spec: {
      ...(nodeSelector && { nodeSelector }),
      ...(tolerations && { tolerations }),
      ...(imagePullSecrets && { imagePullSecrets }),
      ...(priorityClassName && { priorityClassName }),
      ...(serviceAccountName && { serviceAccountName }),
      ...(schedulerName && { schedulerName }),
      ...(runtimeClassName && { runtimeClassName }),
    },
  };
}

/** The pod of a server. `together`: servers share a volume that can be on one node alone. */
export function serverPodSpec(database: Database, engine: Engine, { together = false } = {}): PodSpec {
  const { spec } = database;
  const server = engine.name === "postgres" ? postgresServer(database) : mysqlServer(database);
  const { env = [], volumeMounts = [], ...program } = server.container;
  return {
    terminationGracePeriodSeconds: GRACE_SECONDS,
    restartPolicy: "Always",
    ...serverSecurity(database, engine),
    ...(spec.instances > 1 && { affinity: together ? sameNodeAffinity(labelsOf(database)) : apart(database) }),
    containers: [
      {
        name: SERVER,
        image: serverImage(database, engine),
        ...program,
        env: [secretVariable(database, engine.passwordVariable, "password"), ...env],
        ports: [{ name: "database", containerPort: engine.port }],
        resources: spec.resources ?? {
          requests: { memory: "256Mi", cpu: "100m" },
          limits: { memory: "512Mi", cpu: "500m" },
        },
        volumeMounts: [
          { name: DATA, mountPath: engine.dataFolder, ...(engine.subPath && { subPath: engine.subPath }) },
          { name: "config", mountPath: CONFIG_FOLDER, readOnly: true },
          ...volumeMounts,
        ],
      },
      ...exporter(database, engine),
    ],
    volumes: [{ name: "config", configMap: { name: configName(database) } }, ...server.volumes],
  };
}

/** What is particular to an engine's server. */
interface Server {
  readonly container: Omit<Container, "name">;
  readonly volumes: readonly Volume[];
}

/** `server.sh` runs the server and follows the topology; `status.sh` reports its state. */
function postgresServer(database: Database): Server {
  const env: EnvVar[] = [
    { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
    { name: "VOLUME", value: "/var/lib/postgresql/data" },
    { name: "PGDATA", value: "/var/lib/postgresql/data/pgdata" },
    { name: "CONFIG", value: CONFIG_FOLDER },
    { name: "CREDENTIALS", value: CREDENTIALS_FOLDER },
    { name: "TOPOLOGY", value: TOPOLOGY_FOLDER },
    { name: "RUN", value: RUN_FOLDER },
    { name: "PORT", value: "5432" },
    { name: "INTERVAL", value: "1" },
    { name: "SCRIPTS", value: SCRIPTS_FOLDER },
    { name: "STOP_SECONDS", value: String(GRACE_SECONDS - LAST_SECONDS) },
    { name: "FENCE_SECONDS", value: String(FENCE_SECONDS) },
    { name: "DECLARED", value: DECLARED_FOLDER },
    ...applicationEnvironment(database),
    ...tlsEnvironment(database),
    ...archiveEnvironment(database),
  ];
  const volumeMounts: VolumeMount[] = [
    scriptsMount,
    { name: "credentials", mountPath: CREDENTIALS_FOLDER, readOnly: true },
    { name: "topology", mountPath: TOPOLOGY_FOLDER, readOnly: true },
    { name: "run", mountPath: RUN_FOLDER },
    { name: "shared-memory", mountPath: "/dev/shm" },
    ...declaredMounts(),
    ...applicationMounts(database),
    ...tlsMounts(database),
    ...archiveMounts(database),
  ];
  const alive = { exec: { command: ["sh", `${SCRIPTS_FOLDER}/alive.sh`] } };
  return {
    container: {
      command: ["sh", `${SCRIPTS_FOLDER}/server.sh`],
      env,
      volumeMounts,
      livenessProbe: { ...alive, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 },
      readinessProbe: {
        exec: { command: ["pg_isready", "-q", "-h", RUN_FOLDER, "-p", "5432", "-U", "postgres"] },
        periodSeconds: 5,
        timeoutSeconds: 5,
      },
    },
    volumes: [
      scriptsVolume(database),
      { name: "credentials", secret: { secretName: secretName(database) } },
      { name: "topology", configMap: { name: topologyName(database) } },
      { name: "run", emptyDir: {} },
      // Counts against the limit of memory, which bounds it.
      { name: "shared-memory", emptyDir: { medium: "Memory" } },
      ...declaredVolumes(database),
      ...applicationVolumes(database),
      ...tlsVolumes(database),
      ...archiveVolumes(database),
    ],
  };
}

function mysqlServer({ spec }: Database): Server {
  const answers = {
    exec: { command: ["sh", "-c", 'mysqladmin ping -h 127.0.0.1 -uroot -p"$MYSQL_ROOT_PASSWORD"'] },
    timeoutSeconds: 5,
  };
  return {
    container: {
      ...(spec.parameters && { args: [`--defaults-extra-file=${CONFIG_FOLDER}/server.cnf`] }),
      startupProbe: { ...answers, periodSeconds: 5, failureThreshold: 120 },
      readinessProbe: { ...answers, periodSeconds: 5 },
      livenessProbe: { ...answers, periodSeconds: 10, failureThreshold: 6 },
    },
    volumes: [],
  };
}

/** A metrics exporter. It connects as a separate user with monitoring permissions; for MySQL, as the administrator. */
function exporter(database: Database, engine: Engine): Container[] {
  const { exporter: wanted } = database.spec;
  if (!wanted) return [];
  const env: EnvVar[] =
    engine.name === "postgres"
      ? [
          {
            name: "DATA_SOURCE_URI",
            value: `127.0.0.1:${engine.port}/postgres?sslmode=${database.spec.tls ? "require" : "disable"}`,
          },
          { name: "DATA_SOURCE_USER", value: "monitor" },
          secretVariable(database, "DATA_SOURCE_PASS", "monitor-password"),
        ]
      : [secretVariable(database, "MYSQLD_EXPORTER_PASSWORD", "password")];
  return [
    {
      name: "exporter",
      image: wanted.image ?? engine.exporter,
      ...(engine.name === "mysql" && {
        args: [
          `--mysqld.address=127.0.0.1:${engine.port}`,
          `--mysqld.username=${engine.administrator}`,
          `--web.listen-address=:${EXPORTER_PORT}`,
        ],
      }),
      env,
      ports: [{ name: "metrics", containerPort: EXPORTER_PORT }],
      // What it holds grows with the number of databases and tables.
      resources: wanted.resources ?? { requests: { cpu: "10m", memory: "64Mi" }, limits: { memory: "256Mi" } },
    },
  ];
}

function secretVariable(database: Database, name: string, key: string): EnvVar {
  return { name, valueFrom: { secretKeyRef: { name: secretName(database), key } } };
}

/** Servers of one database on different nodes, where there are enough. */
function apart(database: Database): Affinity {
  const term = { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: labelsOf(database) } };
  return {
    podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm: term }] },
  };
}
