import assert from "node:assert/strict";
import { inPlace } from "../external/external-system.ts";
import { embeddedTestBackend, type TestEnvironmentOptions } from "./embedded-test-backend.ts";
import { OperatorTestEnvironment } from "./operator-test-environment.ts";
import type { FaultInjector } from "./test-backend.ts";
import type { Scenario } from "./test-environment.ts";

/** Runs a scenario on a new embedded cluster. */
export async function runScenario<T = void>(
  scenario: Scenario,
  options: TestEnvironmentOptions = {},
  faults: FaultInjector = {},
  /** Called after the scenario, before the cluster is stopped. */
  afterwards?: (environment: OperatorTestEnvironment) => Promise<T>,
): Promise<T | undefined> {
  const backend = await embeddedTestBackend(options);
  const environment = new OperatorTestEnvironment(backend, faults);
  try {
    await inPlace(environment.externalSystems, () => scenario(environment));
    const result = await afterwards?.(environment);
    assert.deepEqual(environment.prematureReadiness, [], "objects became ready before their children");
    return result;
  } finally {
    await environment.end();
    await backend.end();
  }
}
