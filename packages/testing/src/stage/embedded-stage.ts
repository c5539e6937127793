import { type EmbeddedOptions, embeddedGround } from "./embedded-ground.ts";
import type { Fate } from "./ground.ts";
import { OperatorStage } from "./operator-stage.ts";
import type { Scenario } from "./stage.ts";

/** Plays a scenario on an embedded cluster of its own. */
export async function playEmbedded<T = void>(
  scenario: Scenario,
  options: EmbeddedOptions = {},
  fate: Fate = {},
  /** Looks at the stage when the scenario is over, before it is taken down. */
  afterwards?: (stage: OperatorStage) => Promise<T>,
): Promise<T | undefined> {
  const ground = await embeddedGround(options);
  const stage = new OperatorStage(ground, fate);
  try {
    await scenario(stage);
    return await afterwards?.(stage);
  } finally {
    await stage.end();
    await ground.end();
  }
}
