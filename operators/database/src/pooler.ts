import { ConfigMap, Deployment, Service } from "konverge/kinds";
import { podTemplate } from "konverge/pods";
import type { Database } from "./database.ts";
import type { Engine } from "./engines.ts";
import { metadataOf, poolerName, secretName, writeServiceName } from "./names.ts";
import { surroundingsOf } from "./server-pod.ts";
import { hasSuperuserAccess } from "./superuser.ts";

const LABEL = "database-pooler";
const CONFIG_FOLDER = "/etc/pgbouncer";
const CREDENTIALS_FOLDER = "/credentials";
/** The user `postgres` of the image, which names it by name. */
const PGBOUNCER_USER = 70;

/**
 * PgBouncer before the primary, if asked for. It knows the administrator from the Secret and asks the server about all other
 * users, so that passwords are in one place; where the superuser has no access, it knows the application's role alone. A new
 * password of the one that it knows, whose digest is given, restarts the poolers, one after the other.
 */
export function poolerFor(database: Database, engine: Engine, password: string) {
  const { pooler, hibernated } = database.spec;
  if (!pooler || engine.name !== "postgres") return [];
  const name = poolerName(database);
  const metadata = metadataOf(database, name);
  const labels = { [LABEL]: database.metadata.name };
  const settings = [
    "[databases]",
    `* = host=${writeServiceName(database)} port=${engine.port}`,
    "[pgbouncer]",
    "listen_addr = *",
    `listen_port = ${engine.port}`,
    "auth_type = scram-sha-256",
    `auth_file = ${CREDENTIALS_FOLDER}/userlist.txt`,
    ...(hasSuperuserAccess(database)
      ? [`auth_user = ${engine.administrator}`, "auth_query = SELECT usename, passwd FROM pg_shadow WHERE usename = $1"]
      : []),
    `pool_mode = ${pooler.mode}`,
    `max_client_conn = ${pooler.maxClients}`,
    `default_pool_size = ${pooler.poolSize}`,
    "ignore_startup_parameters = extra_float_digits",
    "server_tls_sslmode = prefer",
    "",
  ].join("\n");
  return [
    ConfigMap.draft({ metadata, data: { "pgbouncer.ini": settings } }),
    Deployment.draft({
      metadata,
      spec: {
        replicas: hibernated ? 0 : pooler.instances,
        selector: { matchLabels: labels },
        strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
        template: podTemplate(
          {
            metadata: { labels, annotations: { "databases.example.com/credentials": password } },
            spec: {
              containers: [
                {
                  name: "pooler",
                  image: pooler.image,
                  command: ["pgbouncer", `${CONFIG_FOLDER}/pgbouncer.ini`],
                  ports: [{ name: "database", containerPort: engine.port }],
                  readinessProbe: { tcpSocket: { port: "database" }, periodSeconds: 5 },
                  resources: { requests: { cpu: "50m", memory: "64Mi" }, limits: { memory: "128Mi" } },
                  volumeMounts: [
                    { name: "config", mountPath: CONFIG_FOLDER, readOnly: true },
                    { name: "credentials", mountPath: CREDENTIALS_FOLDER, readOnly: true },
                  ],
                },
              ],
              volumes: [
                { name: "config", configMap: { name } },
                {
                  name: "credentials",
                  secret: { secretName: secretName(database), items: [{ key: "userlist.txt", path: "userlist.txt" }] },
                },
              ],
            },
          },
          { overlay: surroundingsOf(database), user: PGBOUNCER_USER },
        ),
      },
    }),
    Service.draft({
      metadata,
      spec: {
        selector: labels,
        ports: [{ name: engine.name, port: engine.port, targetPort: "database", protocol: "TCP" }],
      },
    }),
  ];
}
