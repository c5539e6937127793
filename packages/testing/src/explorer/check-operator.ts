import { ApiError } from "@konverge/core";
import type { Operator } from "@konverge/runtime";
import type { AnyKind } from "@konverge/schema";
import type { TestEnvironmentOptions } from "../environment/embedded-test-backend.ts";
import { runScenario } from "../environment/run-scenario.ts";
import type { Scenario } from "../environment/test-environment.ts";
import { type ExploreOptions, explore } from "./explore.ts";
import type { FaultFamily } from "./fault-family.ts";
import type { Exploration, Finding } from "./finding.ts";
import { sampleObject } from "./sample-object.ts";

/** Options of {@link checkOperator}. */
export interface CheckOperatorOptions extends ExploreOptions {
  /** The objects that a user creates, as YAML or objects. Default: one of each kind, generated from its schema. */
  readonly objects?: readonly (string | object)[];
  /**
   * The minor versions of Kubernetes to check it on, one after the other: `["1.34", "1.37"]`. Findings say on which, and a field
   * that the operator writes and a version does not store is one. Default: the default version alone.
   */
  readonly kubernetes?: readonly string[];
}

/**
 * Explores an operator without a scenario: its objects are created, then deleted, with faults at every point. Empty
 * `findings` mean that it passed. Throws if the API server or a webhook rejects an object.
 *
 * ```ts
 * assertNoFindings(await checkOperator(noteOperator));
 * assertNoFindings(await checkOperator(noteOperator, { kubernetes: ["1.34", "1.37"] }));
 * ```
 */
export async function checkOperator(operator: Operator, options: CheckOperatorOptions = {}): Promise<Exploration> {
  const { kubernetes: versions, ...shared } = options;
  if (!versions) return checkOnVersion(operator, shared);
  const checked: Exploration[] = [];
  for (const kubernetes of versions) {
    const unstored = new Set<string>();
    const onUnstored = (field: string) => unstored.add(field);
    const environment = { ...shared.environment, kubernetes, onUnstored };
    const exploration = await checkOnVersion(operator, { ...shared, environment });
    checked.push(onVersion(kubernetes, withUnstored(exploration, [...unstored])));
  }
  return together(checked);
}

async function checkOnVersion(operator: Operator, options: Omit<CheckOperatorOptions, "kubernetes">) {
  const { objects = operator.kinds.map((kind) => sampleObject(kind)), ...given } = options;
  // Which images an operator may choose is not known here.
  const rest = {
    // The simplest object does not need all that an operator can do.
    unusedPermissions: options.objects !== undefined,
    ...given,
    environment: { strictImages: false, ...given.environment },
  };
  const created: Scenario = async (environment) => {
    await environment.start(operator);
    for (const object of objects) await environment.apply(object);
  };
  await expectAccepted(created, options.objects === undefined, rest.environment);
  const creation: Scenario = async (environment) => {
    await created(environment);
    await environment.settled();
  };
  const deletion: Scenario = async (environment) => {
    await creation(environment);
    for (const kind of operator.kinds) {
      for (const { metadata } of await environment.list(kind)) {
        await environment.client.delete(kind, keyIn(environment.namespace, kind, metadata.name));
      }
      await environment.until(`all ${kind.plural} are gone`, async () => (await environment.list(kind)).length === 0);
    }
  };
  return explore([creation, deletion], rest);
}

function withUnstored(exploration: Exploration, unstored: readonly string[]): Exploration {
  const { seed, findings } = exploration;
  const more = unstored.map((field): Finding => {
    const message = `the operator writes ${field}, which this version does not store`;
    return { oracle: "unstored-field", message, faults: [], seed, timeline: [], runs: 1 };
  });
  return { ...exploration, findings: [...findings, ...more] };
}

function onVersion(kubernetes: string, exploration: Exploration): Exploration {
  const named = (findings: readonly Finding[]) =>
    findings.map((finding) => ({ ...finding, message: `on Kubernetes ${kubernetes}: ${finding.message}` }));
  const { findings, accepted, stopped } = exploration;
  return {
    ...exploration,
    stopped: stopped && `on Kubernetes ${kubernetes}: ${stopped}`,
    findings: named(findings),
    accepted: named(accepted),
  };
}

/** What was explored on several versions, as one result. */
function together(explorations: readonly Exploration[]): Exploration {
  const [first] = explorations;
  if (!first) throw new Error("kubernetes: name at least one version");
  const sum = (of: (one: Exploration) => number) => explorations.reduce((total, one) => total + of(one), 0);
  const tried: Partial<Record<FaultFamily, number>> = {};
  for (const { tried: own } of explorations) {
    for (const [family, count] of Object.entries(own) as [FaultFamily, number][]) {
      tried[family] = (tried[family] ?? 0) + count;
    }
  }
  return {
    seed: first.seed,
    runs: sum(({ runs }) => runs),
    points: sum(({ points }) => points),
    tried,
    pruned: sum(({ pruned }) => pruned),
    earlier: sum(({ earlier }) => earlier),
    covered: sum(({ covered }) => covered),
    deterministic: explorations.every(({ deterministic }) => deterministic),
    stopped: explorations.find(({ stopped }) => stopped)?.stopped,
    findings: explorations.flatMap(({ findings }) => findings),
    accepted: explorations.flatMap(({ accepted }) => accepted),
  };
}

/** A rejected object is no finding: the operator never gets to see it. */
async function expectAccepted(
  created: Scenario,
  isGenerated: boolean,
  environment?: TestEnvironmentOptions,
): Promise<void> {
  try {
    await runScenario(created, environment);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const whose = isGenerated ? "an object that was generated from its schema" : "one of the objects";
    const remedy = isGenerated ? "pass valid objects" : "correct it";
    throw new Error(`${whose} is rejected: ${error.message}; ${remedy}`, { cause: error });
  }
}

function keyIn(namespace: string, kind: AnyKind, name: string): string {
  return kind.namespaced ? `${namespace}/${name}` : name;
}
