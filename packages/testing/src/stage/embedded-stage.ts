import { embeddedTestBackend, type TestEnvironmentOptions } from "./embedded-ground.ts";
import type { FaultInjector } from "./ground.ts";
import { OperatorTestEnvironment } from "./operator-stage.ts";
import type { Scenario } from "./stage.ts";

/** Plays a scenario on an embedded cluster of its own. */
export async function runScenario<T = void>(
  scenario: Scenario,
  options: TestEnvironmentOptions = {},
  fate: FaultInjector = {},
  /** Looks at the stage when the scenario is over, before it is taken down. */
  afterwards?: (stage: OperatorTestEnvironment) => Promise<T>,
): Promise<T | undefined> {
  const ground = await embeddedTestBackend(options);
  const stage = new OperatorTestEnvironment(ground, fate);
  try {
    await scenario(stage);
    return await afterwards?.(stage);
  } finally {
    await stage.end();
    await ground.end();
  }
}
