import type { ConfigMap, Container, Service, StatefulSet } from "konverge/kinds";
import type { Database } from "./database.ts";
import type { Engine } from "./engines.ts";
import { configName, DATA, labelsOf, metadataOf, secretName } from "./names.ts";

const CONFIG = "config";
const CONFIG_FOLDER = "/etc/database";
const GRACE_SECONDS = 60;

/** The server's configuration. */
export function configFor(database: Database, engine: Engine): ConfigMap {
  const { file, text } = engine.configuration(database.spec.parameters ?? {});
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: metadataOf(database, configName(database)),
    data: { [file]: text },
  };
}

/** Where clients connect. */
export function serviceFor(database: Database, engine: Engine): Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: metadataOf(database, database.metadata.name),
    spec: {
      selector: labelsOf(database),
      ports: [{ name: engine.name, port: engine.port, targetPort: "database", protocol: "TCP" }],
    },
  };
}

/**
 * The server. `claimed` is the size that the claim template has already: it cannot be changed, volumes grow by themselves.
 */
export function statefulSetFor(database: Database, engine: Engine, claimed: string | undefined): StatefulSet {
  const { spec, metadata } = database;
  const labels = labelsOf(database);
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: metadataOf(database, metadata.name),
    spec: {
      replicas: spec.hibernated ? 0 : 1,
      serviceName: metadata.name,
      selector: { matchLabels: labels },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: spec.deletionPolicy, whenScaled: "Retain" },
      template: {
        metadata: { labels },
        spec: {
          terminationGracePeriodSeconds: GRACE_SECONDS,
          restartPolicy: "Always",
          containers: [serverFor(database, engine)],
          volumes: [{ name: CONFIG, configMap: { name: configName(database) } }],
        },
      },
      volumeClaimTemplates: [
        {
          apiVersion: "v1",
          kind: "PersistentVolumeClaim",
          metadata: { name: DATA, labels },
          spec: {
            accessModes: ["ReadWriteOnce"],
            ...(spec.storageClass && { storageClassName: spec.storageClass }),
            resources: { requests: { storage: claimed ?? spec.size } },
          },
        },
      ],
    },
  };
}

function serverFor(database: Database, engine: Engine): Container {
  const { spec } = database;
  const { file } = engine.configuration({});
  const answers = { exec: { command: [...engine.probe] } };
  return {
    name: "database",
    image: spec.image ?? `${engine.name}:${spec.version}`,
    ...(spec.parameters && { args: [...engine.configured(`${CONFIG_FOLDER}/${file}`)] }),
    env: [
      {
        name: engine.passwordVariable,
        valueFrom: { secretKeyRef: { name: secretName(database), key: "password" } },
      },
      ...(engine.dataVariable ? [{ ...engine.dataVariable }] : []),
    ],
    ports: [{ name: "database", containerPort: engine.port }],
    resources: spec.resources ?? {
      requests: { memory: "256Mi", cpu: "100m" },
      limits: { memory: "512Mi", cpu: "500m" },
    },
    startupProbe: { ...answers, periodSeconds: 5, failureThreshold: 120 },
    readinessProbe: { ...answers, periodSeconds: 5 },
    livenessProbe: { ...answers, periodSeconds: 10, failureThreshold: 6 },
    volumeMounts: [
      { name: DATA, mountPath: engine.dataFolder },
      { name: CONFIG, mountPath: CONFIG_FOLDER, readOnly: true },
    ],
  };
}
