import { request } from "node:https";
import { realClock, sleep } from "@konverge/core";
import type { RealCluster } from "@konverge/real";
import { CONDITIONS, OBJECT, PARAMS, PATCHES, VARIABLES } from "./corpus/policies.ts";
import { NEVER, type PolicyAnswers, type PolicyField, QUESTIONS } from "./corpus/policy-judge.ts";

const POLICIES = "/apis/admissionregistration.k8s.io/v1";
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
/** Few enough that the API server does not shorten its warnings. */
const GROUP = 6;

interface Answer {
  status: number;
  warnings: string[];
  body: { data?: unknown; message?: string; details?: { causes?: { field: string; message: string }[] } };
}

/** The answers of a real API server. */
export async function realPolicyAnswers(cluster: RealCluster): Promise<PolicyAnswers> {
  const server = new PolicyServer(cluster);
  await server.post(CONFIG_MAPS, PARAMS, 201);
  const refused = {
    validations: await server.refusals("validations"),
    applyConfiguration: await server.refusals("applyConfiguration"),
    jsonPatch: await server.refusals("jsonPatch"),
  };
  const conditions = CONDITIONS.filter((text) => refused.validations[text] === undefined);
  const patches = PATCHES.filter((text) => refused.jsonPatch[text] === undefined);
  const groups = Array.from({ length: Math.ceil(conditions.length / GROUP) }, (_, i) =>
    conditions.slice(i * GROUP, (i + 1) * GROUP),
  );
  for (const [i, group] of groups.entries())
    await server.install("Validating", `conditions${i}`, policySpec("validations", [NEVER, ...group]));
  const said: Record<string, string> = {};
  for (const [i, group] of groups.entries()) {
    const { warnings } = await server.judge(`conditions${i}`, ({ warnings }) => warnings.length > 0);
    for (const text of group) {
      const found = warnings.find((warning) => warning.endsWith(`: ${text}`) || warning.includes(`'${text}' resulted`));
      const unsaid =
        found ?? (text === conditions.at(-1) ? warnings.find((line) => line.includes("budget")) : undefined);
      if (unsaid !== undefined) said[text] = unsaid.replace(/^.*? with binding '[^']*': /, "");
    }
  }
  const patched: Record<string, unknown> = {};
  for (const [i, text] of patches.entries()) {
    // The second mutation shows when the policy has come into force; it is only reached if the first can be applied.
    const probe = "[JSONPatch{op: 'add', path: '/metadata/labels/patched', value: 'yes'}]";
    await server.install("Mutating", `patch${i}`, policySpec("jsonPatch", [probe, text]));
    const { status, body } = await server.judge(`patch${i}`, ({ status, body }) => status >= 400 || isPatched(body));
    patched[text] = status === 201 ? body.data : null;
  }
  return { refused, conditions: said, patched };
}

const isPatched = (body: object) =>
  (body as { metadata?: { labels?: { patched?: string } } }).metadata?.labels?.patched === "yes";

function policySpec(field: PolicyField, expressions: readonly string[]): Record<string, unknown> {
  const common = {
    failurePolicy: "Fail",
    paramKind: { apiVersion: "v1", kind: "ConfigMap" },
    variables: VARIABLES,
    matchConstraints: {
      resourceRules: [
        { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"], scope: "*" },
      ],
    },
  };
  if (field === "validations") return { ...common, validations: expressions.map((expression) => ({ expression })) };
  const patchType = field === "jsonPatch" ? "JSONPatch" : "ApplyConfiguration";
  return {
    ...common,
    reinvocationPolicy: "Never",
    mutations: expressions.map((expression) => ({ patchType, [field]: { expression } })),
  };
}

class PolicyServer {
  readonly #cluster: RealCluster;
  readonly #clock = realClock();

  constructor(cluster: RealCluster) {
    this.#cluster = cluster;
  }

  async refusals(field: PolicyField): Promise<Record<string, string>> {
    const type = field === "validations" ? "Validating" : "Mutating";
    const body = policyObject(type, "draft", policySpec(field, QUESTIONS[field]));
    const answer = await this.post(`${POLICIES}/${type.toLowerCase()}admissionpolicies?dryRun=All`, body);
    const refused: Record<string, string> = {};
    for (const { field: path, message } of answer.body.details?.causes ?? [])
      refused[QUESTIONS[field][Number(/\[(\d+)\]/.exec(path)![1])]!] = message;
    return refused;
  }

  async install(type: "Validating" | "Mutating", name: string, spec: object): Promise<void> {
    const path = `${POLICIES}/${type.toLowerCase()}admissionpolicies`;
    await this.post(path, policyObject(type, name, spec), 201);
    const binding = {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: `${type}AdmissionPolicyBinding`,
      metadata: { name },
      spec: {
        policyName: name,
        paramRef: { name: PARAMS.metadata.name, namespace: "default", parameterNotFoundAction: "Deny" },
        matchResources: { objectSelector: { matchLabels: { case: name } } },
        ...(type === "Validating" ? { validationActions: ["Warn"] } : {}),
      },
    };
    await this.post(path.replace("policies", "policybindings"), binding, 201);
  }

  /** What a policy makes of the object, once it is in force. */
  async judge(name: string, isInForce: (answer: Answer) => boolean): Promise<Answer> {
    const object = { ...OBJECT, metadata: { ...OBJECT.metadata, labels: { case: name } } };
    const deadline = this.#clock.monotonic() + 60_000;
    for (;;) {
      const answer = await this.post(`${CONFIG_MAPS}?dryRun=All`, object);
      if (isInForce(answer) && !answer.body.message?.includes("not yet synced")) return answer;
      if (this.#clock.monotonic() > deadline) throw new Error(`waited a minute for policy ${name}`);
      await sleep(this.#clock, 100);
    }
  }

  async post(path: string, body: object, expected?: number): Promise<Answer> {
    const answer = await new Promise<Answer>((resolve, reject) => {
      const { url, ca, adminToken } = this.#cluster;
      const headers = { authorization: `Bearer ${adminToken}`, "content-type": "application/json" };
      const outgoing = request(new URL(path, url), { method: "POST", ca, headers }, (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("error", reject);
        incoming.on("end", () => {
          const all = incoming.rawHeaders;
          const warnings = all.flatMap((name, i) =>
            i % 2 === 0 && name.toLowerCase() === "warning" ? [warningText(all[i + 1]!)] : [],
          );
          const text = Buffer.concat(chunks).toString("utf8");
          resolve({ status: incoming.statusCode ?? 0, warnings, body: JSON.parse(text) as Answer["body"] });
        });
      });
      outgoing.on("error", reject);
      outgoing.end(JSON.stringify(body));
    });
    if (expected !== undefined && answer.status !== expected)
      throw new Error(`${path} answered ${answer.status}: ${answer.body.message}`);
    return answer;
  }
}

function policyObject(type: string, name: string, spec: object): object {
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: `${type}AdmissionPolicy`,
    metadata: { name },
    spec,
  };
}

/** What is between the quotes of `299 - "text"`. */
function warningText(header: string): string {
  return header
    .replace(/^\d+ \S+ "/, "")
    .replace(/"$/, "")
    .replaceAll(/\\(.)/g, "$1");
}
