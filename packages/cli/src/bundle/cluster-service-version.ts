import type { KubeObject } from "@konverge/core";
import type { CustomResourceDefinition, Deployment, PolicyRule } from "@konverge/kinds";
import type { Operator, OperatorParts, RbacObject } from "@konverge/runtime";
import type { Schema } from "../diff-crd/schema-changes.ts";
import type { OperatorObjects } from "../manifests/operator-objects.ts";
import { WEBHOOK_PORT } from "../operators/operator-process.ts";
import { UsageError } from "../usage-error.ts";

/** The levels of the Operator Framework's capability model. */
export const CAPABILITIES = [
  "Basic Install",
  "Seamless Upgrades",
  "Full Lifecycle",
  "Deep Insights",
  "Auto Pilot",
] as const;

export interface BundleOptions {
  readonly image: string;
  readonly version: string;
  /** The namespace that is suggested to users. Default: the operator's name. */
  readonly namespace?: string;
  readonly capabilityLevel: (typeof CAPABILITIES)[number];
  readonly channel: string;
  readonly provider?: string;
  /** The version that this one replaces in a channel. */
  readonly replaces?: string;
  /** Objects of the operators' kinds, which a console offers as a start. */
  readonly samples: readonly KubeObject[];
}

/** What OLM installs: the Deployment, its permissions, the kinds and the webhooks, whose Service and certificates it makes. */
export function clusterServiceVersion(
  operator: Operator,
  parts: OperatorParts,
  objects: OperatorObjects,
  options: BundleOptions & { readonly namespace: string },
): object {
  const { name, description } = operator;
  const { version, image, replaces, capabilityLevel } = options;
  const title = displayName(name);
  const [cluster, home] = [rulesOf(objects.roles, "ClusterRole"), rulesOf(objects.roles, "Role", options.namespace)];
  const { spec, metadata } = objects.deployment as Deployment;
  const webhooks = webhookDefinitions(objects);
  return {
    apiVersion: "operators.coreos.com/v1alpha1",
    kind: "ClusterServiceVersion",
    metadata: {
      name: `${name}.v${version}`,
      namespace: "placeholder",
      annotations: {
        "alm-examples": JSON.stringify(options.samples, undefined, 2),
        capabilities: capabilityLevel,
        containerImage: image,
        description,
        "operatorframework.io/suggested-namespace": options.namespace,
      },
    },
    spec: {
      displayName: title,
      description,
      version,
      ...(replaces && { replaces: `${name}.v${replaces}` }),
      maturity: "alpha",
      minKubeVersion: "1.31.0",
      ...(options.provider && { provider: { name: options.provider } }),
      keywords: [...new Set(operator.kinds.map(({ kind }) => kind.toLowerCase()))],
      relatedImages: [{ name: "operator", image }],
      installModes: ["OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces"].map((type) => ({
        type,
        supported: type === "AllNamespaces",
      })),
      customresourcedefinitions: { owned: objects.crds.flatMap((crd) => ownedKinds(crd, parts)) },
      ...(webhooks.length > 0 && { webhookdefinitions: webhooks }),
      install: {
        strategy: "deployment",
        spec: {
          deployments: [{ name, label: metadata.labels, spec }],
          ...(cluster.length > 0 && { clusterPermissions: [{ serviceAccountName: name, rules: cluster }] }),
          ...(home.length > 0 && { permissions: [{ serviceAccountName: name, rules: home }] }),
        },
      },
    },
  };
}

/** OLM registers each webhook by itself, at the port of the Deployment. */
function webhookDefinitions({ name, webhooks, crds }: OperatorObjects): object[] {
  const place = { deploymentName: name, containerPort: 443, targetPort: WEBHOOK_PORT };
  const admission = webhooks.flatMap(({ kind, webhooks: entries = [] }) =>
    entries.map(({ name: generateName, clientConfig, namespaceSelector, matchConditions = [], ...entry }) => {
      if (matchConditions.length + Object.keys(namespaceSelector ?? {}).length > 0)
        throw new UsageError(
          `webhook ${generateName} has a namespaceSelector or matchConditions: OLM has no fields for them; decide in its code`,
        );
      const type = kind === "MutatingWebhookConfiguration" ? "MutatingAdmissionWebhook" : "ValidatingAdmissionWebhook";
      return { type, generateName, ...place, webhookPath: clientConfig.service?.path, ...entry };
    }),
  );
  const converted = crds.filter(({ spec }) => spec.conversion?.webhook);
  if (converted.length === 0) return admission;
  const conversion = {
    type: "ConversionWebhook",
    generateName: `convert.${name}`,
    ...place,
    webhookPath: "/convert",
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    conversionCRDs: converted.map(({ metadata }) => metadata.name),
  };
  return [...admission, conversion];
}

/** `note-operator` is the Note Operator. */
function displayName(name: string): string {
  return name
    .split("-")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(" ");
}

function rulesOf(roles: readonly RbacObject[], kind: "ClusterRole" | "Role", namespace?: string): PolicyRule[] {
  const found = roles.filter((role) => role.kind === kind);
  const elsewhere = found.find((role) => role.metadata.namespace !== namespace);
  if (elsewhere) {
    throw new UsageError(
      `${elsewhere.metadata.name} needs permissions in the namespace ${elsewhere.metadata.namespace}: OLM gives them in the operator's namespace or in all namespaces`,
    );
  }
  return found.flatMap((role) => (role as { rules?: PolicyRule[] }).rules ?? []);
}

/** A kind as OLM lists it, for each version that is served. */
function ownedKinds({ metadata, spec }: CustomResourceDefinition, { controllers }: OperatorParts): object[] {
  const owners = controllers.filter(({ kind }) => kind.kind === spec.names.kind && kind.group === spec.group);
  const children = new Map(
    owners
      .flatMap(({ owns }) => owns)
      .map(({ kind }) => [`${kind.group}/${kind.kind}`, { kind: kind.kind, name: "", version: kind.version }]),
  );
  return spec.versions
    .filter(({ served }) => served)
    .map(({ name: version, schema }) => {
      const { description, properties } = (schema?.openAPIV3Schema ?? {}) as Schema & { description?: string };
      return {
        name: metadata.name,
        version,
        kind: spec.names.kind,
        displayName: spec.names.kind,
        description: description ?? spec.names.kind,
        ...(children.size > 0 && { resources: [...children.values()] }),
        specDescriptors: descriptors(properties?.["spec"]),
        statusDescriptors: descriptors(properties?.["status"]),
      };
    });
}

/** The fields that a console shows with their meaning: those that have a description. */
function descriptors(schema: (Schema & { description?: string }) | undefined, path = ""): object[] {
  return Object.entries(schema?.properties ?? {}).flatMap(([name, field]) => {
    const { description } = field as { description?: string };
    const at = path === "" ? name : `${path}.${name}`;
    const own = description ? [{ path: at, displayName: displayName(name), description }] : [];
    return [...own, ...descriptors(field, at)];
  });
}
