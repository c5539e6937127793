import type { PolicyRule } from "@konverge/kinds";
import type { Operator, OperatorParts, RbacObject } from "@konverge/runtime";
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
  const lines = [
    `# Permissions of ${name}`,
    "",
    `What an attacker with the credentials of \`${name}\` could do, the most serious first, and why the operator needs the permission.`,
    GENERATED,
    "How to grant less: [Permissions of the operators](README.md).",
    "",
    "## In all namespaces",
    "",
    ...table(everywhere, name, parts),
    "",
    "## In its own namespace",
    "",
    ...table(home, name, parts),
    "",
  ];
  return lines.join("\n");
}

function table(powers: readonly Power[], name: string, parts: OperatorParts): string[] {
  if (powers.length === 0) return ["Nothing that reaches beyond its own objects."];
  const rows = [...Map.groupBy(powers, ({ could }) => could)].map(([could, alike]) => {
    const by = alike.map((one) => {
      const which = one.names.length > 0 ? `, only \`${one.names.join("`, `")}\`` : "";
      return `\`${one.by}\`${which}`;
    });
    const why = new Set(alike.map(({ rule }) => reasonFor(rule, name, parts)));
    return `| ${could} | ${REACH[alike[0]!.reach]} | ${by.join("; ")} | ${[...why].join(" ")} |`;
  });
  return ["| could | reach | by | why |", "|---|---|---|---|", ...rows];
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
  const marks = (powers: readonly Power[]) =>
    COLUMNS.map(([, pattern]) => {
      const found = powers.filter(({ by }) => pattern.test(by));
      if (found.length === 0) return "no";
      return found.every(({ names }) => names.length > 0) ? "its own" : "yes";
    });
  const rows = operators.map((operator) => {
    const { everywhere } = held(operator);
    return `| [${operator.name}](${operator.name}.md) | ${marks(everywhere).join(" | ")} |`;
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
    "None of these is needed for the operator alone: it is what its objects consist of. An operator that creates workloads in every namespace",
    "can run a pod with any service account there, and so become whatever the most powerful of these accounts is.",
    "",
    "## Grant less",
    "",
    "- `--webhook-ca cert-manager` of `konverge manifests`, `chart` and `deploy`: no permission on webhook configurations and CRDs. See",
    "  [Webhooks](../../guide/webhooks.md#what-the-operator-may-do).",
  ].join("\n")}\n`;
}
