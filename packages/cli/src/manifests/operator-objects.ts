import type { KubeObject } from "@konverge/core";
import type {
  CustomResourceDefinition,
  MutatingWebhookConfiguration,
  NetworkPolicy,
  PodDisruptionBudget,
  Service,
  ServiceAccount,
  ValidatingWebhookConfiguration,
} from "@konverge/kinds";
import {
  guardPolicy,
  hasWebhooks,
  Metrics,
  type Operator,
  type OperatorParts,
  operatorPermissions,
  type RbacObject,
  rolesFor,
  silentLog,
  Webhooks,
} from "@konverge/runtime";
import type { AnyKind } from "@konverge/schema";
import { storedOnly } from "../deploy/stored-only.ts";
import { createParts } from "../operators/operator-parts.ts";
import { NO_SETTINGS, type SettingSources, settingsOf } from "../operators/settings.ts";
import { classicRoles } from "./classic-role.ts";
import { deploymentOf, METRICS_PORT } from "./deployment.ts";
import { networkPolicyOf } from "./network-policy.ts";
import {
  certificateObjects,
  injectionAnnotations,
  mountedCertificates,
  registrationBy,
  type WebhookAuthority,
  webhookAuthority,
} from "./webhook-authority.ts";

/** How operators are to be installed. */
export interface ManifestOptions {
  /** Where their Deployments, service accounts and leases are. */
  readonly namespace: string;
  readonly image: string;
  /** The settings that they run with: their permissions may depend on them. Default: those that the operators define. */
  readonly settings?: SettingSources;
  /** Names of Secrets in the same namespace with which nodes pull the image. */
  readonly imagePullSecrets?: readonly string[];
  /** Who issues the certificates of webhooks and sets their CA. Default: the operator; with `namespaced`, there are none. */
  readonly webhookCa?: WebhookAuthority;
  /** Only these namespaces, by Roles. Default: all, by ClusterRoles. */
  readonly namespaced?: readonly string[];
}

/** All objects of an operator's installation. */
export interface OperatorObjects {
  readonly name: string;
  readonly crds: readonly CustomResourceDefinition[];
  readonly serviceAccount: ServiceAccount;
  /** The least that works: for the whole cluster, and for its own namespace. */
  readonly roles: readonly RbacObject[];
  /** A ValidatingAdmissionPolicy that limits what the operator writes with its roles. */
  readonly guard: readonly KubeObject[];
  /** More than is needed, as handwritten roles often are; part of no installation unless asked for. */
  readonly classicRoles: readonly RbacObject[];
  readonly service: Service;
  readonly deployment: KubeObject;
  /** For cert-manager, where it issues the certificates of webhooks. */
  readonly certificates: readonly KubeObject[];
  readonly webhooks: readonly (MutatingWebhookConfiguration | ValidatingWebhookConfiguration)[];
  /** For clusters with the Prometheus operator. */
  readonly serviceMonitor: KubeObject;
  /** For clusters whose network is closed: what may reach the operator. */
  readonly networkPolicy: NetworkPolicy;
  /** For operators with several replicas: nodes are drained one replica at a time. */
  readonly disruptionBudget: PodDisruptionBudget;
}

/** An operator's parts, made only to be looked at. */
export function partsOf(operator: Operator, sources = NO_SETTINGS): OperatorParts {
  const { registry } = new Metrics({ process: false });
  return createParts(operator, { metrics: registry, settings: settingsOf(operator, sources), log: silentLog });
}

/** Everything that an operator's installation consists of. The same input gives the same objects. */
export function operatorObjects(operator: Operator, options: ManifestOptions): OperatorObjects {
  const { name } = operator;
  const { namespace, namespaced } = options;
  const webhookCa = webhookAuthority(options);
  const parts = partsOf(operator, options.settings);
  const labels = labelsOf(name);
  const account = { name, namespace };
  const withoutWebhooks = hasWebhooks(parts) && webhookCa === "none";
  const webhooks = hasWebhooks(parts) && !withoutWebhooks;
  const annotations = injectionAnnotations(webhookCa, account);
  const mounted = webhooks ? mountedCertificates(webhookCa, name) : undefined;
  return {
    name,
    crds: operator.kinds.map((kind) =>
      withoutWebhooks
        ? storedOnly(crdOf(kind, operator, parts, namespace))
        : annotated(crdOf(kind, operator, parts, namespace), annotations),
    ),
    serviceAccount: { apiVersion: "v1", kind: "ServiceAccount", metadata: { ...account, labels } },
    roles: rolesOf(operator, parts, options).map((role) => labelled(role, labels)),
    guard: guardPolicy(operator, parts, { namespace, service: account, namespaced: namespaced !== undefined }).map(
      (one) => withLabels(one, labels),
    ),
    classicRoles: classicRoles(name, parts, account, namespaced).map((role) => labelled(role, labels)),
    service: serviceOf(name, namespace, webhooks),
    deployment: deploymentOf(operator, { ...options, labels, webhooks, withoutWebhooks, certificates: mounted }),
    certificates: webhooks && webhookCa === "cert-manager" ? certificateObjects(account, labels) : [],
    webhooks: webhooks ? webhookConfigurations(parts, account, { labels, annotations, namespaced }) : [],
    serviceMonitor: serviceMonitorOf(name, namespace, labels),
    networkPolicy: networkPolicyOf(operator, account, { labels, webhooks, namespaced }),
    disruptionBudget: disruptionBudgetOf(account, labels),
  };
}

function labelsOf(name: string): Record<string, string> {
  return { app: name, "app.kubernetes.io/name": name, "app.kubernetes.io/managed-by": "konverge" };
}

/** Kinds of several versions are converted by the operator that brings them. */
function crdOf(kind: AnyKind, { name }: Operator, { conversions }: OperatorParts, namespace: string) {
  const converts = conversions.some((one) => one.kind === kind.kind && one.group === kind.group);
  return kind.crd(converts ? { conversionWebhook: { service: { name, namespace, path: "/convert", port: 443 } } } : {});
}

/** A definition that is not converted by a webhook has nothing to inject a CA into. */
function annotated(crd: CustomResourceDefinition, annotations: Record<string, string>): CustomResourceDefinition {
  if (!crd.spec.conversion || Object.keys(annotations).length === 0) return crd;
  return { ...crd, metadata: { ...crd.metadata, annotations: { ...crd.metadata.annotations, ...annotations } } };
}

/**
 * The Role of its own namespace also has what the ClusterRole gives everywhere for its own kinds: it adds no right, and
 * who may look into one namespace only sees there what the operator may do with them.
 */
function rolesOf(operator: Operator, parts: OperatorParts, options: ManifestOptions): RbacObject[] {
  const { name, kinds } = operator;
  const { namespace: home, namespaced } = options;
  const accesses = operatorPermissions(operator, parts, {
    operatorNamespace: home,
    leaderElection: { name, namespace: home },
    webhookRegistration: registrationBy(webhookAuthority(options)),
    ...(namespaced && { namespaces: namespaced, namespaced: true }),
  });
  const isOwn = (group: string, resource: string) =>
    kinds.some((kind) => kind.group === group && kind.plural === resource.split("/")[0]);
  if (namespaced) return rolesFor(accesses, { name, serviceAccount: { name, namespace: home } });
  const atHome = accesses
    .filter((one) => one.namespace === undefined && isOwn(one.group, one.resource))
    .map((one) => ({ ...one, namespace: home }));
  return rolesFor([...accesses, ...atHome], { name, serviceAccount: { name, namespace: home } });
}

function serviceOf(name: string, namespace: string, webhooks: boolean): Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace, labels: labelsOf(name) },
    spec: {
      selector: { app: name },
      ports: [
        { name: "metrics", port: METRICS_PORT, targetPort: "metrics" },
        ...(webhooks ? [{ name: "webhooks", port: 443, targetPort: "webhooks" }] : []),
      ],
    },
  };
}

/** The CA is added by the operator, which also keeps all of it as it is here, or by cert-manager's injector. */
function webhookConfigurations(
  parts: OperatorParts,
  service: { name: string; namespace: string },
  { labels, annotations, namespaced }: RegistrationOptions,
): (MutatingWebhookConfiguration | ValidatingWebhookConfiguration)[] {
  const { admissions = [] } = parts;
  const webhooks = new Webhooks({ admissions });
  const apiVersion = "admissionregistration.k8s.io/v1";
  const target = { service: { ...service, port: 443 } };
  const within = <T extends { namespaceSelector?: object }>(one: T): T =>
    namespaced ? inNamespaces(one, namespaced) : one;
  const mutating = webhooks.mutating(target).map(within);
  const validating = webhooks.validating(target).map(within);
  const { name: account, namespace } = service;
  const name = namespaced ? `${account}-${namespace}` : account;
  const metadata = { name, labels, ...(Object.keys(annotations).length > 0 && { annotations }) };
  return [
    ...(mutating.length > 0
      ? [{ apiVersion, kind: "MutatingWebhookConfiguration" as const, metadata, webhooks: mutating }]
      : []),
    ...(validating.length > 0
      ? [{ apiVersion, kind: "ValidatingWebhookConfiguration" as const, metadata, webhooks: validating }]
      : []),
  ] as (MutatingWebhookConfiguration | ValidatingWebhookConfiguration)[];
}

interface RegistrationOptions {
  readonly labels: Record<string, string>;
  readonly annotations: Record<string, string>;
  readonly namespaced: readonly string[] | undefined;
}

/** A webhook that is asked only about objects in these namespaces: another installation may judge those in others. */
function inNamespaces<T extends { namespaceSelector?: object }>(webhook: T, namespaces: readonly string[]): T {
  const { matchExpressions = [], ...rest } = (webhook.namespaceSelector ?? {}) as { matchExpressions?: object[] };
  const expression = { key: "kubernetes.io/metadata.name", operator: "In", values: [...namespaces] };
  return { ...webhook, namespaceSelector: { ...rest, matchExpressions: [...matchExpressions, expression] } };
}

function serviceMonitorOf(name: string, namespace: string, labels: Record<string, string>): KubeObject {
  return {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "ServiceMonitor",
    metadata: { name, namespace, labels },
    spec: { selector: { matchLabels: { app: name } }, endpoints: [{ port: "metrics", path: "/metrics" }] },
  } as KubeObject;
}

/** A share that must stay would keep a single replica, and with it its node, from being drained. */
function disruptionBudgetOf(
  metadata: { name: string; namespace: string },
  labels: Record<string, string>,
): PodDisruptionBudget {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { ...metadata, labels },
    spec: { maxUnavailable: 1, selector: { matchLabels: { app: metadata.name } } },
  };
}

function withLabels(object: KubeObject, labels: Record<string, string>): KubeObject {
  const { apiVersion, kind, metadata, ...rest } = object;
  return { apiVersion, kind, metadata: { ...metadata, labels }, ...rest } as KubeObject;
}

function labelled(object: RbacObject, labels: Record<string, string>): RbacObject {
  const { apiVersion, kind, metadata, ...rest } = object;
  return { apiVersion, kind, metadata: { ...metadata, labels }, ...rest } as RbacObject;
}
