import type { PolicyRule } from "@konverge/kinds";
import { guardsOf, type Operator, type OperatorGuard, type OperatorParts, type RbacObject } from "@konverge/runtime";
import { DEFAULT_IMAGE, DEFAULT_NAMESPACE } from "../manifests/defaults.ts";
import type { Files } from "../manifests/files.ts";
import { type ManifestOptions, operatorObjects, partsOf } from "../manifests/operator-objects.ts";
import { reasonFor } from "../manifests/reasons.ts";
import { type Power, powersOf, type Reach } from "./powers.ts";

const GENERATED = "Generated from the rules of its role (`node packages/cli/src/permissions/write-pages.ts`).";

/** What an operator could do in all namespaces, and in single ones. */
interface Held {
  readonly everywhere: readonly Power[];
  readonly inNamespaces: ReadonlyMap<string, readonly Power[]>;
}

/** Pages that say what each operator could do if it were compromised, and an overview, by file name. */
export function permissionPages(operators: readonly Operator[]): Files {
  const pages = new Map<string, string>();
  for (const operator of operators) pages.set(`${operator.name}.md`, operatorPage(operator));
  pages.set("README.md", overview(operators));
  return pages;
}

function held(operator: Operator, more: Partial<ManifestOptions> = {}): Held {
  const { roles } = operatorObjects(operator, { namespace: DEFAULT_NAMESPACE, image: DEFAULT_IMAGE, ...more });
  const places = Map.groupBy(roles.filter(hasRules), ({ metadata }) => metadata.namespace);
  const powers = (all: readonly RuleHolder[] = []) => powersOf(all.flatMap(({ rules }) => rules));
  const inNamespaces = [...places].flatMap(([namespace, all]) =>
    namespace === undefined ? [] : [[namespace, powers(all)] as const],
  );
  return { everywhere: powers(places.get(undefined)), inNamespaces: new Map(inNamespaces) };
}

type RuleHolder = RbacObject & { rules: PolicyRule[] };
const hasRules = (role: RbacObject): role is RuleHolder => "rules" in role;

const REACH: Record<Reach, string> = {
  cluster: "can end in the whole cluster",
  secrets: "Secrets",
  workloads: "workloads",
  data: "data and traffic",
};

function operatorPage(operator: Operator): string {
  const { name } = operator;
  const parts = partsOf(operator);
  const { everywhere, inNamespaces } = held(operator);
  const home = inNamespaces.get(DEFAULT_NAMESPACE) ?? [];
  const about: About = { name, parts, guards: guardsOfInstalled(operator, parts) };
  const lines = [
    `# Permissions of ${name}`,
    "",
    `What an attacker with the credentials of \`${name}\` could do, the most serious first, and why the operator needs the permission.`,
    GENERATED,
    "How to grant less: [Permissions of the operators](README.md).",
    "",
    "## In all namespaces",
    "",
    ...table(everywhere, about),
    "",
    "## In its own namespace",
    "",
    ...table(home, about),
    "",
    "## Guard",
    "",
    `Its manifests install the ValidatingAdmissionPolicy \`${name}-guard\`. Whatever its role allows, the account \`${name}\``,
    "",
    ...about.guards.map(({ limit }) => `- ${limit}`),
    "",
  ];
  return lines.join("\n");
}

interface About {
  readonly name: string;
  readonly parts: OperatorParts;
  readonly guards: readonly OperatorGuard[];
}

const guardsOfInstalled = (operator: Operator, parts: OperatorParts) =>
  guardsOf(operator, parts, {
    namespace: DEFAULT_NAMESPACE,
    service: { name: operator.name, namespace: DEFAULT_NAMESPACE },
  });

/** What guards leave of powers over these resources. No policy is asked about reads, and none here limits deletions. */
function limitsOf(powers: readonly Power[], guards: readonly OperatorGuard[]): string[] {
  const limits = guards.filter(({ resources }) =>
    powers.some(({ resource, by }) => resources.includes(resource) && /create|update|patch/.test(by)),
  );
  return [...new Set(limits.map(({ limit }) => limit))];
}

function table(powers: readonly Power[], { name, parts, guards }: About): string[] {
  if (powers.length === 0) return ["Nothing that reaches beyond its own objects."];
  const rows = [...Map.groupBy(powers, ({ could }) => could)].map(([could, alike]) => {
    const by = alike.map((one) => {
      const which = one.names.length > 0 ? `, only \`${one.names.join("`, `")}\`` : "";
      return `\`${one.by}\`${which}`;
    });
    const why = new Set(alike.map(({ rule }) => reasonFor(rule, name, parts)));
    const limits = limitsOf(alike, guards).join("; ") || "";
    return `| ${could} | ${REACH[alike[0]!.reach]} | ${by.join("; ")} | ${limits} | ${[...why].join(" ")} |`;
  });
  return ["| could by its role | reach | by | its guard | why |", "|---|---|---|---|---|", ...rows];
}

/** A column of the overview: what to look for among the powers. */
const COLUMNS: readonly (readonly [title: string, pattern: RegExp])[] = [
  ["reads all Secrets", /^(list|watch).* secrets$/],
  ["`pods/exec`", / pods\/exec$/],
  ["creates pods or workloads", /create.* (pods|deployments|statefulsets|jobs|cronjobs|leaderworkersets)$/],
  ["writes roles or bindings", / (cluster)?role(binding)?s$/],
  ["writes webhook configurations", / (mutating|validating)webhookconfigurations$/],
  ["impersonates", /^impersonate /],
  ["approves certificates", / certificatesigningrequests\/approval$/],
  ["writes nodes", / nodes$/],
];

function overview(operators: readonly Operator[]): string {
  const marks = (powers: readonly Power[], guards: readonly OperatorGuard[]) =>
    COLUMNS.map(([, pattern]) => {
      const found = powers.filter(({ by }) => pattern.test(by));
      if (found.length === 0) return "no";
      return found.every((one) => limitsOf([one], guards).length > 0) ? "limited" : "yes";
    });
  const rows = operators.map((operator) => {
    const { everywhere } = held(operator);
    const guards = guardsOfInstalled(operator, partsOf(operator));
    return `| [${operator.name}](${operator.name}.md) | ${marks(everywhere, guards).join(" | ")} |`;
  });
  const titles = COLUMNS.map(([title]) => title);
  return `${[
    "# Permissions of the operators",
    "",
    "What an attacker with the credentials of an operator could do. Generated from the rules of their roles",
    "(`node packages/cli/src/permissions/write-pages.ts`); each operator has a page with its reasons.",
    "",
    "## In all namespaces, by default",
    "",
    `| operator | ${titles.join(" | ")} |`,
    `|---|${titles.map(() => "---|").join("")}`,
    ...rows,
    "",
    "Limited: a ValidatingAdmissionPolicy that the manifests install allows only the writes that the operator makes, for example only one",
    "command in pods, or only the CA of its webhooks. It also keeps every operator out of `kube-system`, `kube-public` and",
    "`kube-node-lease`. OLM bundles have no such policy.",
    "",
    "What stays: an operator that creates workloads in every namespace can run a pod there with any service account of that namespace, and",
    "mount Secrets whose names it knows. So it can become whatever the most powerful account outside the control plane's namespaces is: these",
    "workloads are what its objects consist of. Reading cannot be limited by a policy: the operators that read all Secrets do so because",
    "passwords and keys of their objects are in Secrets that users name.",
    "",
    "## Grant less",
    "",
    "- `--namespaced NAMESPACE…` of `konverge manifests`, `chart` and `deploy`: Roles and RoleBindings in these namespaces and in the operator's",
    "  own, and nothing of the whole cluster. All that the pages list is then limited to these namespaces. See",
    "  [Single namespaces](../../guide/running-operators.md#single-namespaces).",
    "- `--webhook-ca cert-manager` of `konverge manifests`, `chart` and `deploy`: no permission on webhook configurations and CRDs. See",
    "  [Webhooks](../../guide/webhooks.md#what-the-operator-may-do).",
  ].join("\n")}\n`;
}
