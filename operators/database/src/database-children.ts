import { createHash } from "node:crypto";
import type { QuantityValue } from "konverge";
import { ConfigMap, Service, type ServiceSpec, StatefulSet } from "konverge/kinds";
import { podTemplate } from "konverge/pods";
import { accessRules } from "./access-rules.ts";
import type { Database } from "./database.ts";
import type { Engine } from "./engines.ts";
import {
  configName,
  DATA,
  labelsOf,
  metadataOf,
  podsServiceName,
  ROLE,
  readServiceName,
  writeServiceName,
} from "./names.ts";
import { acceptedParameters } from "./parameter-rules.ts";
import { serverPodSpec } from "./server-pod.ts";
import { archiveParameters } from "./wal-archive.ts";

/** Annotations of a Database whose change asks for something to be done once. */
export const RESTART = "databases.example.com/restart";
export const ROTATE = "databases.example.com/rotate";

/** The servers' configuration. */
export function configFor(database: Database, engine: Engine) {
  const data = { ...engine.configuration({ ...acceptedParameters(database), ...archiveParameters(database) }) };
  const access = data["pg_hba.conf"];
  return ConfigMap.draft({
    metadata: metadataOf(database, configName(database)),
    data: { ...data, ...(access !== undefined && { "pg_hba.conf": accessRules(access, database, engine) }) },
  });
}

/** How servers report which configuration they have read. */
export function configurationDigest({ data }: ConfigMap): string {
  return createHash("sha256")
    .update(data?.["postgresql.conf"] ?? "")
    .digest("hex");
}

/** Where clients connect: to the primary, to a standby, or (servers among themselves) to each pod by its name. */
export function servicesFor(database: Database, engine: Engine) {
  const ports = [{ name: engine.name, port: engine.port, targetPort: "database", protocol: "TCP" as const }];
  const service = (name: string, spec: ServiceSpec) =>
    Service.draft({ metadata: metadataOf(database, name), spec: { ports, ...spec } });
  // The label alone decides: an exporter that crashes must not take the primary from its clients.
  const primary = { selector: { ...labelsOf(database), [ROLE]: "primary" }, publishNotReadyAddresses: true };
  const standby = { ...labelsOf(database), [ROLE]: "standby" };
  return [
    service(database.metadata.name, primary),
    service(writeServiceName(database), primary),
    ...(database.spec.instances > 1 ? [service(readServiceName(database), { selector: standby })] : []),
    // Also servers that are not ready yet are reached, by one another.
    service(podsServiceName(database), {
      selector: labelsOf(database),
      clusterIP: "None",
      publishNotReadyAddresses: true,
    }),
  ];
}

/** The inputs of the StatefulSet, besides the Database. */
export interface ServersWanted {
  /** How many pods. */
  readonly replicas: number;
  /** The size in the existing claim template, which cannot be changed: volumes are grown separately. */
  readonly claimed: QuantityValue | undefined;
  /** All on one node, since they share a volume that cannot be on several. */
  readonly together?: boolean;
}

/**
 * The servers. The operator itself replaces pods of an older revision: standbys first, the primary when another leads.
 */
export function statefulSetFor(database: Database, engine: Engine, wanted: ServersWanted) {
  const { spec, metadata } = database;
  const labels = labelsOf(database);
  const restart = metadata.annotations?.[RESTART];
  return StatefulSet.draft({
    metadata: metadataOf(database, metadata.name),
    spec: {
      replicas: wanted.replicas,
      serviceName: podsServiceName(database),
      podManagementPolicy: "Parallel",
      updateStrategy: { type: "OnDelete" },
      selector: { matchLabels: labels },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: spec.deletionPolicy, whenScaled: "Retain" },
      template: podTemplate(
        {
          metadata: {
            labels,
            annotations: {
              // A server of PostgreSQL reloads its configuration, and reports what needs a restart.
              ...(engine.name === "mysql" && {
                "databases.example.com/configuration": digest(configFor(database, engine).data ?? {}),
              }),
              ...(restart && { [RESTART]: restart }),
            },
          },
          spec: serverPodSpec(database, engine, wanted),
        },
        { overlay: spec.template },
      ),
      volumeClaimTemplates: [
        {
          metadata: { name: DATA, labels },
          spec: {
            accessModes: ["ReadWriteOnce"],
            ...(spec.storageClass && { storageClassName: spec.storageClass }),
            resources: { requests: { storage: wanted.claimed ?? spec.size } },
          },
        },
      ],
    },
  });
}

function digest(texts: Readonly<Record<string, string>>): string {
  return createHash("sha256").update(JSON.stringify(texts)).digest("hex").slice(0, 16);
}
