/**
 * The smallest operator for databases: one bare Pod each, `<name>-pod`. It is what one writes first, and shows what an
 * operator is; what is missing (a volume, a Service, updates) is in the operator of this package.
 */
import { Database } from "@konverge/database-operator";
import { controller, operator } from "konverge";
import { Pod, Secret } from "konverge/kinds";

const podDatabases = controller(Database, {
  name: "pod-databases",
  owns: [Pod, Secret],
  reconcile({ metadata: { name, namespace }, spec }, { observed, clock, events }) {
    const postgres = name.includes("postgres");
    const known = observed(Secret, `${name}-password`)?.data?.["password"];
    const password = known ?? Buffer.from(clock.random.uuid()).toString("base64");
    const pod = observed(Pod, `${name}-pod`);
    const running = pod?.status?.phase === "Running";
    if (!pod) events.normal("Creating", `making ${name}-pod`);
    return {
      children: [
        Secret.draft({ metadata: { name: `${name}-password`, namespace }, data: { password } }),
        Pod.draft({
          metadata: { name: `${name}-pod`, namespace, labels: { app: "database", "database-name": name } },
          spec: {
            restartPolicy: "Always",
            containers: [
              {
                name: "database",
                image: `${postgres ? "postgres" : "mysql"}:${spec.version}`,
                env: [
                  {
                    name: postgres ? "POSTGRES_PASSWORD" : "MYSQL_ROOT_PASSWORD",
                    valueFrom: { secretKeyRef: { name: `${name}-password`, key: "password" } },
                  },
                ],
                resources: {
                  requests: { memory: "256Mi", cpu: "100m" },
                  limits: { memory: "512Mi", cpu: "500m" },
                },
              },
            ],
          },
        }),
      ],
      status: { phase: running ? ("Running" as const) : ("Creating" as const), podName: `${name}-pod` },
    };
  },
  finalizer: "databases.example.com/finalizer",
  cleanup: () => undefined,
});

export const podOperator = operator({
  name: "pod-database-operator",
  description: "One bare Pod for each Database.",
  kinds: [Database],
  create: () => ({ controllers: [podDatabases] }),
});
