/** The kinds that a chart's templates can render, and what they use of the cluster: the permissions of its operator follow from them. */
import { groupKindText, type KindRef, type KubeObject, parseApiVersion } from "@konverge/core";
import { builtinResources, CustomResourceDefinition } from "@konverge/kinds";
import type { PermissionDeclaration } from "@konverge/runtime";
import { type AnyCrd, pluralOf } from "@konverge/schema";
import { builtinKind, kindsOf } from "../kinds/known-kinds.ts";
import type { ChartFacts, Rendered } from "./engine/rendered.ts";
import { grantedPermissions } from "./granted-permissions.ts";

/** A kind by its name. */
export interface KindName {
  readonly apiVersion: string;
  readonly kind: string;
}

/** What templates use. */
export interface TemplateUses {
  /** Kinds of objects and of hooks. */
  readonly kinds: readonly KindRef<KubeObject>[];
  /** Kinds that `lookup` reads, as far as they are written in templates. */
  readonly lookups: readonly KindRef<KubeObject>[];
  /** What roles that it renders grant: RBAC lets an operator grant only what it has. */
  readonly granted: readonly PermissionDeclaration[];
  readonly capabilities: boolean;
  /** Passwords, keys, certificates. */
  readonly random: boolean;
}

const RANDOM =
  /\b(rand(Alpha|AlphaNum|Ascii|Numeric|Bytes|Int)|gen(PrivateKey|CA|SelfSignedCert|SignedCert)\w*|uuidv4|htpasswd|bcrypt|encryptAES|shuffle)\b/;
const LOOKUP = /\blookup\s+"([^"]*)"\s+"([^"]*)"/g;

/**
 * What a chart's templates use. `named` are kinds that cannot be found in them, such as those of values that are templates;
 * `crds` are the definitions of kinds that are not Kubernetes' own.
 */
export function templateUses(
  { chart, crds: own, manifests, hooks }: Rendered,
  { named = [], crds = [] }: { readonly named?: readonly KindName[]; readonly crds?: readonly AnyCrd[] } = {},
): TemplateUses {
  const text = Object.values(chart.templates).join("\n---\n");
  const objects = [...manifests, ...hooks].flatMap((document) => document.objects);
  const definitions = [...crds, ...own.flatMap(({ objects }) => objects), ...objects].filter(isDefinition);
  const lookup = kindsOf(definitions as AnyCrd[]);
  const found = (names: readonly KindName[]) => {
    const refs = names.map(({ apiVersion, kind }) => lookup(apiVersion, kind)?.ref ?? guessed({ apiVersion, kind }));
    return distinct(refs.filter((ref) => ref !== undefined));
  };
  return {
    kinds: found([...objects, ...named, ...kindNamesIn(chart.templates)]),
    lookups: found(
      [...text.matchAll(LOOKUP)].map(([, apiVersion, kind]) => ({ apiVersion: apiVersion!, kind: kind! })),
    ),
    granted: grantedPermissions(objects),
    capabilities: /\bCapabilities\b/.test(text) || chart.kubeVersion !== undefined,
    random: RANDOM.test(text),
  };
}

function isDefinition(object: object): boolean {
  return (object as KindName).kind === CustomResourceDefinition.kind;
}

/** The names at the beginnings of lines: those of whole objects. */
export function kindNamesIn(templates: ChartFacts["templates"]): KindName[] {
  const documents = Object.values(templates).flatMap((template) => template.split(/^---/m));
  const whole = documents.flatMap((document) => {
    const apiVersions = [...document.matchAll(/^apiVersion:\s*["']?([\w./-]+)["']?\s*$/gm)].map(([, one]) => one!);
    return [...document.matchAll(/^kind:\s*["']?(\w+)["']?\s*$/gm)].flatMap(([, kind]) => {
      const literal = apiVersions.filter((apiVersion) => builtinKind(apiVersion, kind!) !== undefined);
      if (literal.length > 0) return literal.map((apiVersion) => ({ apiVersion, kind: kind! }));
      // The version is an expression, or the kind is not Kubernetes' own.
      const served = apiVersions.length > 0 ? [] : versionsOf(kind!);
      return (served.length > 0 ? served : apiVersions).map((apiVersion) => ({ apiVersion, kind: kind! }));
    });
  });
  // Templates that choose the kind: `kind: {{ .Values.kind }}`.
  const chosen = documents.some((document) => /^kind:\s*\{\{/m.test(document)) ? WORKLOADS : [];
  return [...whole, ...chosen];
}

const WORKLOADS: readonly KindName[] = ["Deployment", "StatefulSet", "DaemonSet"].map((kind) => ({
  apiVersion: "apps/v1",
  kind,
}));

/** The stored or newest version of a built-in kind, by its kind alone. */
function versionsOf(kind: string): string[] {
  const found = builtinResources().filter((resource) => resource.kind === kind && resource.group !== "extensions");
  const stable = found.filter(({ version }) => /^v\d+$/.test(version));
  return (stable.length > 0 ? stable : found.slice(0, 1)).map(({ group, version }) =>
    group === "" ? version : `${group}/${version}`,
  );
}

/** A kind without a definition at hand: most have the usual plural, and are namespaced. */
export function guessed({ apiVersion, kind }: KindName): KindRef<KubeObject> | undefined {
  const { group, version } = parseApiVersion(apiVersion);
  if (!group.includes(".") || group.endsWith(".k8s.io")) return undefined;
  return { group, version, kind, plural: pluralOf(kind), namespaced: !/^Cluster/.test(kind) };
}

/** One of each group and kind: the one that comes first, which is rendered. */
function distinct(kinds: readonly KindRef<KubeObject>[]): KindRef<KubeObject>[] {
  const all = new Map<string, KindRef<KubeObject>>();
  for (const kind of kinds) if (!all.has(groupKindText(kind))) all.set(groupKindText(kind), kind);
  return [...all.values()];
}
