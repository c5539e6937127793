import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import type { JobObject } from "@konverge/kubeflow-operator";
import { isNotFound, type KindRef, type KubeObject } from "konverge";
import type { Client } from "konverge/client";
import { Pod } from "konverge/kinds";
import { parseYaml } from "konverge/schema";
import { sleep } from "konverge/time";
import { endPodOf } from "../jobs.ts";
import { type Difference, EVERYWHERE } from "./differences.ts";
import { type Snapshot, snapshot } from "./snapshot.ts";

/** The two namespaces: this operator reconciles one, upstream's the other. */
export interface Sides {
  readonly ours: string;
  readonly theirs: string;
}

const PATIENCE = 120_000;
const POLL_INTERVAL = 150;

/**
 * A job that both operators run. All changes are applied to both; {@link Duel.agree} waits until both are in the same, and
 * expected, state.
 */
export class Duel {
  readonly name: string;
  readonly #client: Client;
  readonly #sides: Sides;
  readonly #kind: KindRef<JobObject>;
  readonly #differences: readonly Difference[];
  readonly #others: readonly KindRef<KubeObject>[];

  constructor(
    client: Client,
    sides: Sides,
    job: { kind: KindRef<JobObject>; name: string; others?: readonly KindRef<KubeObject>[] },
    differences: readonly Difference[] = [],
  ) {
    this.#client = client;
    this.#sides = sides;
    this.#kind = job.kind;
    this.name = job.name;
    this.#others = job.others ?? [];
    this.#differences = [...EVERYWHERE, ...differences];
  }

  /** Makes the job on both sides, under the duel's name. */
  async apply(manifest: string | object): Promise<void> {
    const [object] = (typeof manifest === "string" ? parseYaml(manifest) : [manifest]) as [JobObject];
    await this.both((namespace) =>
      this.#client.create(this.#kind, {
        ...object,
        metadata: { ...object.metadata, name: this.name, namespace },
      } as never),
    );
  }

  async patch(spec: object): Promise<void> {
    await this.both((namespace) =>
      this.#client.patch(this.#kind, `${namespace}/${this.name}`, { merge: { spec } } as never),
    );
  }

  /** Lets pods run, by the end of their names; all, if none is named. */
  async run(...names: string[]): Promise<void> {
    await this.#eachPod(names, (key) =>
      this.#client.patchStatus(Pod, key, { merge: { status: { phase: "Running" } } }),
    );
  }

  /** Ends pods with this exit code. */
  async end(exitCode: number, ...names: string[]): Promise<void> {
    await this.#eachPod(names, (key) => endPodOf(this.#client, key, exitCode));
  }

  /** Restarts the containers of running pods so often. */
  async restarted(restartCount: number, ...names: string[]): Promise<void> {
    await this.#eachPod(names, async (key) => {
      const { spec } = await this.#client.get(Pod, key);
      const containerStatuses = spec!.containers.map(({ name, image }) => {
        return { name, image: image!, imageID: "", ready: true, restartCount, state: { running: {} } };
      });
      await this.#client.patchStatus(Pod, key, { merge: { status: { phase: "Running", containerStatuses } } });
    });
  }

  /** Reports a container that waits, on pods that are not there yet for long. */
  async waits(reason: string, message: string, ...names: string[]): Promise<void> {
    await this.#eachPod(names, async (key) => {
      const { spec } = await this.#client.get(Pod, key);
      const containerStatuses = spec!.containers.map(({ name, image }) => {
        const state = { waiting: { reason, message } };
        return { name, image: image!, imageID: "", ready: false, restartCount: 0, state };
      });
      await this.#client.patchStatus(Pod, key, { merge: { status: { phase: "Pending", containerStatuses } } });
    });
  }

  async deletePods(...names: string[]): Promise<void> {
    await this.#eachPod(names, async (key) => void (await this.#client.delete(Pod, key)));
  }

  /** Changes a label of the job every second until it is in this state on both sides, to trigger reconciles. */
  async shakenUntil(state: string): Promise<void> {
    const end = this.#client.clock.monotonic() + 2 * PATIENCE;
    for (let turn = 0; this.#client.clock.monotonic() < end; turn++) {
      const [ours, theirs] = await Promise.all([this.#snapshot("ours"), this.#snapshot("theirs")]);
      if (this.#isAs(ours, { state }) && this.#isAs(theirs, { state })) return;
      await this.both((namespace) =>
        this.#client.patch(this.#kind, `${namespace}/${this.name}`, {
          merge: { metadata: { labels: { turn: String(turn) } } },
        } as never),
      );
      await sleep(this.#client.clock, 1000);
    }
    assert.fail(`${this.name} never was ${state} on both sides`);
  }

  async both(act: (namespace: string) => Promise<unknown>): Promise<void> {
    await Promise.all([act(this.#sides.ours), act(this.#sides.theirs)]);
  }

  /** Both stand the same, twice in a row, and the last condition and the pods (`worker-0 Running`) are these. */
  async agree(expected: { state: string; pods?: readonly string[] }): Promise<Snapshot> {
    const end = this.#client.clock.monotonic() + PATIENCE;
    let before: Snapshot | undefined;
    for (;;) {
      const [ours, theirs] = await Promise.all([this.#snapshot("ours"), this.#snapshot("theirs")]);
      const is = isDeepStrictEqual(ours, theirs) && this.#isAs(ours, expected);
      if (is && isDeepStrictEqual(ours, before)) return ours;
      before = is ? ours : undefined;
      if (this.#client.clock.monotonic() > end) {
        assert.deepEqual(ours, theirs, `${this.name}: ours differs from theirs`);
        assert.fail(`${this.name}: both are not ${JSON.stringify(expected)}: ${JSON.stringify(ours, null, 1)}`);
      }
      await sleep(this.#client.clock, POLL_INTERVAL);
    }
  }

  #isAs({ status, pods }: Snapshot, expected: { state: string; pods?: readonly string[] }): boolean {
    const { conditions } = (status ?? {}) as { conditions?: { type: string; status: string }[] };
    const state = typeof status === "string" ? status : conditions?.at(-1)?.type;
    const shown = (pods as { metadata: { name: string }; phase: string }[]).map(
      ({ metadata, phase }) => `${metadata.name.slice(this.name.length + 1)} ${phase}`,
    );
    return state === expected.state && (!expected.pods || isDeepStrictEqual(shown.sort(), [...expected.pods].sort()));
  }

  async #snapshot(side: keyof Sides): Promise<Snapshot> {
    const whole = await snapshot(this.#client, this.#sides[side], this.#kind, this.name, this.#others);
    return this.#differences.reduce((known, difference) => difference[side]?.(known) ?? known, whole);
  }

  async #eachPod(names: readonly string[], act: (key: `${string}/${string}`) => Promise<unknown>): Promise<void> {
    await this.both(async (namespace) => {
      const labelSelector = `training.kubeflow.org/job-name=${this.name}`;
      const { items } = await this.#client.list(Pod, { namespace, labelSelector });
      const chosen = items.filter(
        ({ metadata }) => names.length === 0 || names.some((name) => metadata.name === `${this.name}-${name}`),
      );
      if (names.length > 0) assert.equal(chosen.length, names.length, `${namespace}: not all of ${names} are there`);
      for (const { metadata } of chosen) {
        await act(`${namespace}/${metadata.name}`).catch((error: unknown) => {
          if (!isNotFound(error)) throw error;
        });
      }
    });
  }
}
