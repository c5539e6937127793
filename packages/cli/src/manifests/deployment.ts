import type { Deployment, EnvVar } from "@konverge/kinds";
import type { Operator } from "@konverge/runtime";
import { WEBHOOK_PORT } from "../operators/operator-process.ts";
import { NO_SETTINGS, type SettingSources, settingsOf } from "../operators/settings.ts";
import type { MountedCertificates } from "./webhook-authority.ts";

export const METRICS_PORT = 8080;
const PROBE_PORT = 8081;
/** The user of distroless images that is not root. */
export const NOBODY = 65_532;

export interface DeploymentOptions {
  readonly namespace: string;
  readonly image: string;
  readonly settings?: SettingSources;
  readonly labels: Record<string, string>;
  readonly webhooks: boolean;
  /** Certificates of the webhooks that another tool issues. Default: the operator issues its own. */
  readonly certificates?: MountedCertificates | undefined;
  readonly imagePullSecrets?: readonly string[];
  /** The namespaces of its Roles. Default: it has ClusterRoles. */
  readonly namespaced?: readonly string[];
  /** The operator has webhooks that are not installed. */
  readonly withoutWebhooks?: boolean;
}

/** The Deployment in which an operator runs: not as root, on a file system it cannot write to, one replica that acts. */
export function deploymentOf(operator: Operator, options: DeploymentOptions): Deployment {
  const { name } = operator;
  const { namespace, image, labels, webhooks, imagePullSecrets = [], certificates } = options;
  const values = settingsOf(operator, options.settings ?? NO_SETTINGS);
  // A busy node is no reason to kill an operator that answers late.
  const probe = (path: string) => ({ httpGet: { path, port: "probes" }, timeoutSeconds: 5 });
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace, labels },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels, annotations: { "kubectl.kubernetes.io/default-container": "operator" } },
        spec: {
          serviceAccountName: name,
          ...(imagePullSecrets.length > 0 && {
            imagePullSecrets: imagePullSecrets.map((secret) => ({ name: secret })),
          }),
          // A little more than the manager gives the work in progress.
          terminationGracePeriodSeconds: 40,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: NOBODY,
            runAsGroup: NOBODY,
            seccompProfile: { type: "RuntimeDefault" },
          },
          containers: [
            {
              name: "operator",
              image,
              args: [
                "run",
                `--operators=${name}`,
                "--leader-elect",
                ...placeFlags(options),
                ...flagsOf(operator, values),
              ],
              env: environmentOf(operator, values),
              ports: [
                { name: "metrics", containerPort: METRICS_PORT },
                { name: "probes", containerPort: PROBE_PORT },
                ...(webhooks ? [{ name: "webhooks", containerPort: WEBHOOK_PORT }] : []),
              ],
              livenessProbe: { ...probe("/healthz"), initialDelaySeconds: 15, periodSeconds: 20 },
              readinessProbe: { ...probe("/readyz"), initialDelaySeconds: 1, periodSeconds: 2 },
              resources: { requests: { cpu: "50m", memory: "128Mi" }, limits: { memory: "512Mi" } },
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ["ALL"] },
              },
              ...(certificates?.mounts.length && { volumeMounts: [...certificates.mounts] }),
            },
          ],
          ...(certificates?.volumes.length && { volumes: [...certificates.volumes] }),
        },
      },
    },
  };
}

/** Options of `konverge run` that follow from the installation. */
function placeFlags({ certificates, namespaced, withoutWebhooks }: DeploymentOptions): string[] {
  return [
    ...(namespaced ? [`--namespaced=${namespaced.join(",")}`] : []),
    ...(withoutWebhooks ? ["--webhooks=off"] : []),
    ...(certificates ? [`--webhook-certificates=${certificates.folder}`] : []),
  ];
}

type Values = Readonly<Record<string, string | undefined>>;

/** Settings that no variable stands for, where they are not at their default. */
function flagsOf({ settings = [] }: Operator, values: Values): string[] {
  return settings
    .filter(({ flag, env, default: value }) => !env && values[flag] !== undefined && values[flag] !== value)
    .map(({ flag }) => `--${flag}=${values[flag]}`);
}

/** What can be set is there to be seen, with its value: `kubectl set env` changes it. */
function environmentOf({ settings = [] }: Operator, values: Values): EnvVar[] {
  const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
  const own = settings.flatMap(({ flag, env }) => {
    const value = values[flag];
    return env && env !== "LOG_LEVEL" && value !== undefined ? [{ name: env, value }] : [];
  });
  const level = settings.find(({ env }) => env === "LOG_LEVEL");
  const logLevel = (level && values[level.flag]) ?? "info";
  return [
    { name: "LOG_LEVEL", value: logLevel },
    field("POD_NAME", "metadata.name"),
    field("POD_NAMESPACE", "metadata.namespace"),
    ...own,
  ];
}
