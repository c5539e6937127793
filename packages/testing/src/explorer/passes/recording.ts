import { embeddedTestBackend } from "../../environment/embedded-test-backend.ts";
import { OperatorTestEnvironment } from "../../environment/operator-test-environment.ts";
import type { FaultInjector } from "../../environment/test-backend.ts";
import type { Scenario, TestEnvironment } from "../../environment/test-environment.ts";
import { inPlace } from "../../external/external-system.ts";
import { ClusterFollower } from "../cluster-follower.ts";
import { ExternalPlane } from "../external-plane.ts";
import { FaultPlane } from "../fault-plane.ts";
import { throwIfReached } from "../limits.ts";
import { observedUser } from "../observed-user.ts";
import type { Timeline } from "../timeline.ts";
import type { PassOptions, PassProblem } from "./pass.ts";

/** A run of a pass: its cluster, what happens in it, and what is found. */
export class Recording {
  readonly environment: OperatorTestEnvironment;
  /** The same for the scenario: what its user does is recorded. */
  readonly observed: TestEnvironment;
  readonly problems: PassProblem[] = [];
  readonly #plane: FaultPlane;
  readonly #external: ExternalPlane;
  readonly #follower: ClusterFollower;
  #from = 0;

  constructor(
    backend: Awaited<ReturnType<typeof embeddedTestBackend>>,
    faults: FaultInjector,
    reached?: () => string | undefined,
  ) {
    this.#follower = new ClusterFollower(backend.cluster, backend.namespace);
    this.#plane = new FaultPlane(this.#follower);
    const clock = backend.clock;
    const { changes } = this.#follower;
    const { injected } = this.#plane;
    const run = { clock, changes, injected, note: this.#plane.note.bind(this.#plane), state: () => "" };
    this.#external = new ExternalPlane(run, () => this.environment.externalSystems, []);
    this.environment = new OperatorTestEnvironment(backend, {
      ...faults,
      interpose: (transport, process) => this.#plane.interpose(transport, process),
      externalCall: (call, send, process) => this.#external.call(call, send, process),
    });
    this.observed = observedUser(this.environment, this.#plane, this.#follower, () => {}, reached);
  }

  get timeline(): Timeline {
    return this.#plane.timeline;
  }

  /** What the explorer does now: the timelines of problems show it. */
  did(what: string): void {
    this.#plane.note({ who: "explorer", type: "fault", what });
  }

  /** The same, as the beginning of something that has nothing to do with what was before. */
  begins(what: string): void {
    this.#from = this.#plane.timeline.length;
    this.did(what);
  }

  report(...messages: readonly string[]): void {
    const timeline = this.#plane.timeline.slice(this.#from);
    for (const message of messages) this.problems.push({ message, timeline });
  }

  /** Resources of external systems whose object is gone, as sentences. */
  externalLeaks(): readonly string[] {
    this.#follower.follow();
    return this.#external.atEnd().leaked;
  }

  async end(): Promise<void> {
    this.#follower.stop();
    await this.environment.end();
  }
}

/** Plays a scenario on a new embedded cluster and then `afterwards`, and records both. */
export async function recorded<T>(
  scenario: (recording: Recording) => ReturnType<Scenario>,
  { environment, seed, reached, onProblem }: PassOptions,
  faults: FaultInjector,
  afterwards: (recording: Recording) => Promise<T>,
): Promise<{ readonly result: T; readonly problems: readonly PassProblem[] }> {
  throwIfReached(reached);
  const backend = await embeddedTestBackend({ ...environment, ...(seed !== undefined && { seed }) });
  const recording = new Recording(backend, faults, reached);
  try {
    const result = await inPlace(recording.environment.externalSystems, async () => {
      await scenario(recording);
      return afterwards(recording);
    });
    recording.report(...recording.environment.prematureReadiness);
    throwIfReached(reached);
    for (const problem of recording.problems) onProblem?.(problem);
    return { result, problems: recording.problems };
  } finally {
    await recording.end();
    await backend.end();
  }
}
