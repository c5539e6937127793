import type { CustomResourceDefinition, Deployment } from "@konverge/kinds";
import { hasWebhooks, type Operator, type OperatorSetting } from "@konverge/runtime";
import { printYaml } from "@konverge/schema";
import { checkedName } from "../checked-name.ts";
import { type DeploymentOptions, deploymentOf, METRICS_PORT, NOBODY } from "../manifests/deployment.ts";
import type { Files } from "../manifests/files.ts";
import { operatorObjects, partsOf } from "../manifests/operator-objects.ts";
import { mountedCertificates, type WebhookAuthority, webhookAuthority } from "../manifests/webhook-authority.ts";
import { NO_SETTINGS, type SettingSources } from "../operators/settings.ts";
import { HelmTemplate } from "./template.ts";
import { imageParts, valuesSchema, valuesText } from "./values.ts";

export interface ChartOptions {
  readonly image: string;
  /** The version of the chart. */
  readonly version: string;
  /** The defaults of the values, and what the roles are for. Default: those that the operators define. */
  readonly settings?: SettingSources;
  /** Who issues the certificates of webhooks and sets their CA. Default: the operator. */
  readonly webhookCa?: WebhookAuthority;
  /** Only these namespaces, by Roles. Default: all, by ClusterRoles. */
  readonly namespaced?: readonly string[];
}

const WRITTEN = "Written by `konverge chart`. Change the operator and run it again.";

/** Helm charts of operators, a folder for each. The same input gives the same text. */
export function chartFiles(operators: readonly Operator[], options: ChartOptions): Files {
  const files = new Map<string, string>();
  for (const operator of operators) {
    const folder = checkedName(operator.name, "operator");
    for (const [path, text] of operatorChart(operator, options)) files.set(`${folder}/${path}`, text);
  }
  return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function operatorChart(operator: Operator, options: ChartOptions): Files {
  const { image, version, settings = NO_SETTINGS } = options;
  const reach = {
    ...(options.webhookCa && { webhookCa: options.webhookCa }),
    ...(options.namespaced && { namespaced: options.namespaced }),
  };
  const webhookCa = webhookAuthority(reach);
  const template = new HelmTemplate();
  const namespace = template.value(".Release.Namespace");
  const objects = operatorObjects(operator, { namespace, image, settings, ...reach });
  const parts = imageParts(image);
  const files = new Map<string, string>();
  const yaml = (path: string, value: object) => files.set(path, `# ${WRITTEN}\n${printYaml(value)}`);
  const templateFile = (name: string, all: readonly object[], condition?: string) => {
    const text = template.print(...(all.map((object) => released(object, template)) as object[]));
    const guarded = condition ? `{{- if ${condition} }}\n${text}{{- end }}\n` : text;
    files.set(`templates/${name}`, `# ${WRITTEN}\n${guarded}`);
  };
  yaml("Chart.yaml", {
    apiVersion: "v2",
    name: operator.name,
    description: operator.description,
    type: "application",
    version,
    appVersion: parts.tag || version,
    kubeVersion: ">=1.31.0-0",
    annotations: {
      "artifacthub.io/operator": "true",
      "artifacthub.io/crds": printYaml(objects.crds.flatMap(hubEntries)),
    },
  });
  files.set("values.yaml", `# ${WRITTEN}\n\n${valuesText(operator, parts, settings)}`);
  const schema = { $comment: WRITTEN, ...valuesSchema(operator, parts, settings) };
  files.set("values.schema.json", `${JSON.stringify(schema, undefined, 2)}\n`);
  files.set("templates/_shared.tpl", shared(operator.name));
  files.set("templates/NOTES.txt", notes(operator));
  templateFile(
    "crds.yaml",
    objects.crds.map((crd) => kept(crd, template)),
    ".Values.crds.install",
  );
  const account = { ...objects.serviceAccount };
  account.metadata = {
    ...account.metadata,
    annotations: template.block(".Values.serviceAccount.annotations") as never,
  };
  templateFile("service-account.yaml", [account]);
  templateFile("roles.yaml", objects.roles);
  templateFile("guard.yaml", objects.guard);
  templateFile("service.yaml", [objects.service]);
  if (objects.certificates.length > 0) templateFile("certificates.yaml", objects.certificates);
  if (objects.webhooks.length > 0) templateFile("webhooks.yaml", objects.webhooks);
  const { labels } = objects.deployment.metadata;
  const served = hasWebhooks(partsOf(operator, settings));
  const webhooks = served && webhookCa !== "none";
  const ownImage = template.value(`include "${operator.name}.image" .`);
  const certificates = webhooks ? mountedCertificates(webhookCa, operator.name) : undefined;
  const deployed = {
    namespace,
    image: ownImage,
    labels: labels!,
    webhooks,
    withoutWebhooks: served && !webhooks,
    certificates,
    ...reach,
  };
  templateFile("deployment.yaml", [chartDeployment(operator, template, deployed)]);
  templateFile("service-monitor.yaml", [objects.serviceMonitor], ".Values.serviceMonitor.enabled");
  templateFile("network-policy.yaml", [objects.networkPolicy], ".Values.networkPolicy.enabled");
  templateFile("disruption-budget.yaml", [objects.disruptionBudget], ".Values.podDisruptionBudget.enabled");
  templateFile("tests/metrics.yaml", [testPod(operator.name, namespace, template)]);
  return files;
}

/** Objects of a release say whose they are; the names stay: an operator finds its lease and its webhooks by them. */
function released<T extends object>(object: T, template: HelmTemplate): T {
  const replace = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(replace);
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).map(([key, one]) => {
      if (key !== "app.kubernetes.io/managed-by") return [key, replace(one)];
      return [key, template.value(".Release.Service")];
    });
    return Object.fromEntries(entries);
  };
  return replace(object) as T;
}

/** Whoever removes a chart seldom means to lose all objects of its kinds. */
function kept(crd: CustomResourceDefinition, template: HelmTemplate): CustomResourceDefinition {
  const policy = template.valueIf(".Values.crds.keep", '"keep"');
  const annotations = { ...crd.metadata.annotations, "helm.sh/resource-policy": policy };
  return { ...crd, metadata: { ...crd.metadata, annotations } };
}

/** The Deployment with values in it. */
function chartDeployment(operator: Operator, template: HelmTemplate, options: DeploymentOptions): Deployment {
  const { name, settings = [] } = operator;
  const words = settings.map((setting) => [setting.flag, settingWord(setting, name, template)] as const);
  const deployment = deploymentOf(operator, { ...options, settings: { flags: new Map(words), env: {} } });
  const { metadata, spec: pod } = deployment.spec!.template;
  const container = pod!.containers[0]!;
  const hasLevel = settings.some(({ env }) => env === "LOG_LEVEL");
  const env = container.env!.map((one) =>
    one.name === "LOG_LEVEL" && !hasLevel ? { ...one, value: template.value(".Values.logLevel") } : one,
  );
  // The word of a setting that is a flag has the flag in it.
  const args = container.args!.map((arg) => words.find(([flag, word]) => arg === `--${flag}=${word}`)?.[1] ?? arg);
  const block = (value: string) => template.block(`.Values.${value}`) as never;
  const added = <T>(own: readonly T[] | undefined, value: string): T[] =>
    own?.length ? [...own, template.items(`.Values.${value}`) as never] : block(value);
  return {
    ...deployment,
    metadata: { ...deployment.metadata, annotations: block("annotations") },
    spec: {
      ...deployment.spec!,
      replicas: template.value(".Values.replicas") as never,
      template: {
        metadata: {
          ...metadata,
          annotations: { ...metadata!.annotations, ...template.entries(".Values.podAnnotations") },
        },
        spec: {
          ...pod!,
          imagePullSecrets: block("imagePullSecrets"),
          nodeSelector: block("nodeSelector"),
          tolerations: block("tolerations"),
          affinity: block("affinity"),
          volumes: added(pod!.volumes, "extraVolumes"),
          priorityClassName: template.valueIf(".Values.priorityClassName", ".Values.priorityClassName | quote"),
          containers: [
            {
              ...container,
              args,
              env: added(env, "extraEnv"),
              volumeMounts: added(container.volumeMounts, "extraVolumeMounts"),
              imagePullPolicy: template.value(".Values.image.pullPolicy") as never,
              resources: block("resources"),
            },
          ],
        },
      },
    },
  };
}

/** A setting that is not set is neither a variable nor a flag: an empty text would be a value. */
function settingWord({ flag, env }: OperatorSetting, name: string, template: HelmTemplate): string {
  const value = `(index .Values.settings ${JSON.stringify(flag)})`;
  const text = `include "${name}.text" ${value}`;
  return template.valueIf(
    `not (kindIs "invalid" ${value})`,
    env ? `${text} | quote` : `printf "--${flag}=%s" (${text}) | quote`,
  );
}

/** What `helm test` runs: the Service leads to an operator that is ready. */
function testPod(name: string, namespace: string, template: HelmTemplate): object {
  const image = template.value(`.Values.test.image | default (include "${name}.image" .)`);
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `${name}-test`,
      namespace,
      annotations: {
        "helm.sh/hook": "test",
        "helm.sh/hook-delete-policy": "before-hook-creation",
        ...template.entries(".Values.test.annotations"),
      },
    },
    spec: {
      restartPolicy: "Never",
      automountServiceAccountToken: false,
      imagePullSecrets: template.block(".Values.imagePullSecrets"),
      securityContext: { runAsNonRoot: true, runAsUser: NOBODY, seccompProfile: { type: "RuntimeDefault" } },
      containers: [
        {
          name: "test",
          image,
          args: ["probe", `http://${name}.${namespace}:${METRICS_PORT}/metrics`],
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
        },
      ],
    },
  };
}

/** Parts that templates share. Numbers are printed as in JSON: the text of a large one would have an exponent. */
const shared = (name: string) => `{{- /* ${WRITTEN} */ -}}
{{- define "${name}.text" -}}
{{- if kindIs "string" . }}{{ . }}{{ else }}{{ toJson . }}{{ end -}}
{{- end -}}
{{- define "${name}.image" -}}
{{- with .Values.image.digest -}}
{{ $.Values.image.repository }}@{{ . }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}
`;

function notes({ name, kinds }: Operator): string {
  const lines = kinds.map(({ plural, group }) => `  kubectl get ${plural}.${group} --all-namespaces`);
  return `{{- /* ${WRITTEN} */ -}}
${name} runs in the namespace {{ .Release.Namespace }}.

Its objects:
${lines.join("\n")}

Check it with: helm test {{ .Release.Name }} --namespace {{ .Release.Namespace }}
`;
}

/** A kind as Artifact Hub lists it, in each version. */
function hubEntries({ metadata, spec }: CustomResourceDefinition): object[] {
  return spec.versions.map(({ name: version, schema }) => ({
    kind: spec.names.kind,
    version,
    name: metadata.name,
    displayName: spec.names.kind,
    description: schema?.openAPIV3Schema?.description ?? spec.names.kind,
  }));
}
