import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { NodeShape } from "@konverge/cluster";
import { findControlPlane } from "@konverge/real";
import type { Operator } from "@konverge/runtime";
import { explore, findingText, runScenario, type Scenario, type TestEnvironmentOptions } from "@konverge/testing";
import { enforcing, type PodSecurityLevel } from "./clearing.ts";
import { OPERATOR_IMAGES } from "./images.ts";
import { kubectlFolder, shellFor } from "./kubectl.ts";
import { type RealStages, realStages } from "./real-ground.ts";
import { RoleWitness } from "./real-role.ts";

/** How a test environment is set up. */
export interface StageOptions {
  /** Of the embedded cluster. Default: virtual; scenarios that run kubectl need `real`. */
  readonly time?: "virtual" | "real";
  /** Default: three plain nodes, two with eight H100 each, one with eight A100. */
  readonly nodes?: readonly NodeShape[];
  /** The Pod Security Standard that its namespace enforces. Default: restricted. */
  readonly podSecurity?: PodSecurityLevel;
  /** Of the embedded cluster: images that are not registered cannot be pulled. Default: true. */
  readonly strictImages?: boolean;
  /** Default: one that is made for the scenario. */
  readonly namespace?: string;
  /** Of the embedded cluster: answers for API servers that an APIService puts behind it. */
  readonly extension?: TestEnvironmentOptions["extension"];
  /** The scenario runs kubectl: it is skipped where there is none. */
  readonly kubectl?: boolean;
}

/** How scenarios are played on a real control plane. */
export interface RealOptions extends StageOptions {
  /** The scenarios take all that this operator's role allows: at their end the server judges each of its rules. */
  readonly role?: Operator;
}

/** Milliseconds that one scenario may take on a real control plane. */
const LONGEST = 240_000;

/** The same for an embedded cluster. */
export function embeddedOptions({ kubectl, podSecurity, ...options }: StageOptions): TestEnvironmentOptions {
  return {
    images: OPERATOR_IMAGES,
    namespaceLabels: enforcing(podSecurity),
    ...options,
    ...(kubectl && { time: "real" as const }),
    shell: shellFor,
  };
}

/** Runs a scenario on a new embedded cluster. */
export async function playOnEmbedded(scenario: Scenario, options: StageOptions = {}): Promise<void> {
  await runScenario(scenario, embeddedOptions(options));
}

/** Declares a test of a scenario on the embedded cluster. */
export function onEmbedded(name: string, scenario: Scenario, options: StageOptions = {}): void {
  const found = options.kubectl ? kubectlFolder() : { folder: "" };
  test(name, { skip: "why" in found ? found.why : false }, () => playOnEmbedded(scenario, options));
}

/**
 * Declares tests of scenarios on one real control plane, each in a separate namespace; skipped, with the reason, where there
 * is none. For `*.real.test.ts`.
 */
export function onReal(scenarios: Readonly<Record<string, Scenario>>, options: RealOptions = {}): void {
  const plane = findControlPlane();
  const witness = options.role && new RoleWitness(options.role);
  describe("on a real control plane", { skip: plane.available ? false : plane.why }, () => {
    let stages: RealStages;
    before(async () => {
      stages = await realStages(options);
    });
    after(async () => {
      await stages?.[Symbol.asyncDispose]();
    });
    for (const [index, [name, scenario]] of Object.entries(scenarios).entries()) {
      const namespace = index === 0 && options.namespace ? options.namespace : `stage-${index}`;
      test(name, { timeout: LONGEST }, () => stages.play(namespace, scenario, witness?.recorder));
    }
    if (!witness) return;
    test(`${options.role?.name} does all this under exactly its role: the server refuses what any rule allows, without it`, async () => {
      const { problems, tried } = await witness.findings(stages.client);
      assert.deepEqual(problems, []);
      assert.ok(tried > 0, "no rule was tried");
    });
  });
}

/** Declares a test that the generated role is exactly what the operator needs to play these scenarios. */
export function exactRole(operator: Operator, scenarios: readonly Scenario[], options: StageOptions = {}): void {
  test(`${operator.name} runs under exactly its role: nothing is refused, and nothing is allowed that it does not need`, async () => {
    const { findings, tried } = await explore(scenarios, { faults: ["rbac"], environment: embeddedOptions(options) });
    assert.deepEqual(findings.map(findingText), []);
    assert.ok((tried.rbac ?? 0) > 0, "no permission was tried");
  });
}
