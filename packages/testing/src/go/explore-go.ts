import type { Snapshot } from "@konverge/apiserver";
import { VirtualClock } from "@konverge/core";
import { withoutIgnored } from "../black-box/ignored-parts.ts";
import type { ProgramScenario } from "../black-box/scenario-file.ts";
import { applyObject } from "../black-box/scenario-player.ts";
import { embeddedTestBackend } from "../environment/embedded-test-backend.ts";
import { kindsOf } from "../environment/installed-kinds.ts";
import { imagesIn } from "../environment/named-images.ts";
import type { StartableOperator } from "../environment/test-environment.ts";
import type { ClusterFollower } from "../explorer/cluster-follower.ts";
import { type ExploreOptions, explore } from "../explorer/explore.ts";
import type { Exploration } from "../explorer/finding.ts";
import type { Invariant } from "../explorer/oracle.ts";
import type { GoModule } from "./go-module.ts";
import { GoProgram } from "./go-program.ts";
import { scenarioOnVirtualTime } from "./scenario-on-virtual-time.ts";
import { certifiedWebhooks } from "./webhook-certificates.ts";

/** Options of {@link exploreGo}. */
export interface ExploreGoOptions extends ExploreOptions {
  readonly module: GoModule;
  readonly scenario: ProgramScenario;
  /** The name of its service account. Default: `manager`. */
  readonly name?: string;
  /** Operators that run beside it. */
  readonly beside?: readonly StartableOperator[];
  /** Called with each line that the program prints. */
  readonly printed?: (line: string, process: number) => void;
}

/**
 * Explores a Go program on virtual time, with what a YAML file describes.
 *
 * ```ts
 * const module = await GoModule.read("manager.wasm");
 * const { findings } = await exploreGo({ module, scenario: readScenario("story.yaml") });
 * ```
 */
export async function exploreGo(options: ExploreGoOptions): Promise<Exploration> {
  const { module, scenario, name = "manager", beside = [], printed, ...rest } = options;
  const { replicas, files, ...started } = scenario.program;
  const certified = certifiedWebhooks(scenario.setup, new VirtualClock());
  const setup = certified.objects;
  const program = new GoProgram({
    name,
    module,
    kinds: kindsOf(setup),
    ...started,
    files: { ...certified.files, ...files },
    ...(printed && { printed }),
  });
  const programs = Array.from({ length: replicas }, () => program);
  const images = imagesIn([scenario.setup, scenario.steps]);
  const environment = { namespace: scenario.namespace, strictImages: false, images, ...rest.environment };
  const state = await preparedState({ ...scenario, setup }, environment);
  return explore(scenarioOnVirtualTime(scenario, [...programs, ...beside]), {
    ...rest,
    mask(object) {
      const masked = rest.mask ? rest.mask(object) : object;
      return masked && withoutIgnored([masked], scenario.ignore)[0];
    },
    environment: { ...environment, state },
    invariants: [...(rest.invariants ?? []), ...scenario.invariants.map(followed)],
  });
}

/** Not that of any run: with the same seed, new objects would get the UIDs of those that are there. */
const PREPARATION_SEED = 0x5e7095;

/** The state in which each run begins: with what the scenario sets up. */
async function preparedState(
  { namespace, setup }: ProgramScenario,
  environment: ExploreOptions["environment"],
): Promise<Snapshot> {
  const backend = await embeddedTestBackend({ ...environment, seed: PREPARATION_SEED });
  try {
    for (const object of setup) await backend.wait(applyObject(backend.cluster.client, object, namespace));
    await backend.settled(() => 0);
    return backend.cluster.snapshot();
  } finally {
    await backend.end();
  }
}

/** An invariant of a scenario, as the follower of a cluster checks it. */
function followed({ name, when, condition }: ProgramScenario["invariants"][number]): Invariant {
  return { name, [when]: (state: ClusterFollower) => condition.check({ objects: state.all() }).holds };
}
