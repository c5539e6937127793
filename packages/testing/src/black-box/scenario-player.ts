import type { Client } from "@konverge/client";
import { type AnyObject, isNotFound, type KindRef, type KubeObject, sleep } from "@konverge/core";
import type { FaultPlane } from "../explorer/fault-plane.ts";
import { throwIfReached } from "../explorer/limits.ts";
import type { RunFailure } from "../explorer/oracle.ts";
import { resourceOf } from "../explorer/request-words.ts";
import type { World } from "../explorer/world.ts";
import type { ProgramScenario, ScenarioStep } from "./scenario-file.ts";

/** What plays a scenario's steps. */
export interface ScenarioPlayerOptions {
  readonly scenario: ProgramScenario;
  /** Its client acts as the user. */
  readonly world: World;
  /** Called before each write of the user. */
  readonly plane: FaultPlane;
  untilIdle(): Promise<void>;
  /** A `wait` step takes this many times its timeout. Default: 1. */
  readonly patience?: number;
  /** Why the exploration has to end now, if it has to: then it stops waiting. */
  readonly reached?: (() => string | undefined) | undefined;
}

/** A run ended before its scenario did. */
export class RunStopped extends Error {
  readonly failure: RunFailure;

  constructor(failure: RunFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

const FIELD_MANAGER = "konverge-explore";
/** How often a `wait` step looks, in milliseconds. */
const TICK = 50;
const NOT_FOUND_TRIES = 40;

/** Does what a scenario says, one step after the other. */
export class ScenarioPlayer {
  readonly #options: ScenarioPlayerOptions;

  constructor(options: ScenarioPlayerOptions) {
    this.#options = options;
  }

  async play(): Promise<void> {
    for (const step of this.#options.scenario.steps) await this.#step(step);
  }

  async #step(step: ScenarioStep): Promise<void> {
    const { client } = this.#options.world;
    switch (step.type) {
      case "apply":
        for (const object of step.objects) {
          const kind = await client.mapper.resolve({ apiVersion: object.apiVersion!, kind: object.kind! });
          await this.#write("apply", kind, object.metadata.name, () =>
            applyObject(client, object, this.#options.scenario.namespace),
          );
        }
        return;
      case "patch": {
        const { kind, name, key } = await this.#target(step.target);
        const subresource = step.subresource === undefined ? {} : { subresource: step.subresource };
        return this.#write("patch", kind, name, () =>
          client.patch(kind, key, { merge: step.patch } as never, { fieldManager: FIELD_MANAGER, ...subresource }),
        );
      }
      case "delete": {
        const { kind, name, key } = await this.#target(step.target);
        return this.#write("delete", kind, name, () => client.delete(kind, key));
      }
      case "wait":
        return this.#wait(step);
      case "wait-idle":
        return this.#options.untilIdle();
      case "pause":
        await this.#sleep(step.ms);
    }
  }

  async #write(verb: string, kind: KindRef<KubeObject>, name: string, write: () => Promise<unknown>): Promise<void> {
    const { world, plane } = this.#options;
    const resource = resourceOf(kind);
    const what = `${verb} ${resource}/${name}`;
    await plane.userWrites(what);
    try {
      await world.writing("user", { resource, name }, () => this.#patiently(write));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw new RunStopped({ type: "scenario", message: `the step "${what}" failed: ${message}` });
    } finally {
      plane.userHasWritten();
    }
  }

  /** What another client has deleted and is about to create again is written when it is there. */
  async #patiently(write: () => Promise<unknown>): Promise<unknown> {
    for (let tries = 1; ; tries++) {
      try {
        return await write();
      } catch (error) {
        if (!isNotFound(error) || tries === NOT_FOUND_TRIES) throw error;
        await this.#sleep(TICK);
      }
    }
  }

  async #wait({ target, until, timeout }: Extract<ScenarioStep, { type: "wait" }>): Promise<void> {
    const { plane, world } = this.#options;
    const { client } = world;
    const { kind, key } = await this.#target(target);
    const description =
      "condition" in until
        ? `condition ${until.condition}=${until.status}`
        : "deleted" in until
          ? "deleted"
          : until.expression.text;
    if (await plane.userWaits(`${target}: ${description}`)) return;
    const limit = timeout * (this.#options.patience ?? 1);
    const end = client.clock.monotonic() + limit;
    for (let why = ""; ; ) {
      throwIfReached(this.#options.reached);
      if (plane.stopsWaiting()) return;
      const object = (await client.get(kind, key).catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      })) as AnyObject | undefined;
      if ("deleted" in until) {
        if (!object) break;
        why = "it exists";
      } else if (!object) why = "it does not exist";
      else if ("condition" in until) {
        const found = conditionsOf(object).find(({ type }) => type === until.condition);
        if (found?.status === until.status && isCurrent(found, object)) break;
        why = found ? `the condition is ${found.status}` : "it has no such condition";
      } else {
        const { holds, error } = until.expression.check({ object });
        if (holds) break;
        why = error ?? "it is false";
      }
      if (client.clock.monotonic() > end) {
        const message = `waited ${limit / 1000} s for ${target}: ${description}; ${why}`;
        throw new RunStopped({ type: "wait", message });
      }
      await this.#sleep(TICK);
    }
  }

  async #target(text: string) {
    const { world, scenario } = this.#options;
    const parts = text.split("/");
    const kind = (await world.client.mapper.resolveResource(parts[0]!)) as KindRef<KubeObject>;
    const name = parts.at(-1)!;
    const namespace = kind.namespaced ? (parts.length > 2 ? parts[1]! : scenario.namespace) : undefined;
    return { kind, namespace, name, key: namespace === undefined ? name : `${namespace}/${name}` };
  }

  #sleep(ms: number): Promise<void> {
    return sleep(this.#options.world.clock, ms);
  }
}

/** Applies an object as a user would; one without a namespace into the scenario's. */
export async function applyObject(client: Client, object: KubeObject, home: string): Promise<void> {
  const kind = await client.mapper.resolve({ apiVersion: object.apiVersion!, kind: object.kind! });
  const namespace = kind.namespaced ? (object.metadata.namespace ?? home) : undefined;
  const metadata = { ...object.metadata, ...(namespace !== undefined && { namespace }) };
  await client.apply(kind, { ...object, metadata } as never, { fieldManager: FIELD_MANAGER, force: true });
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly observedGeneration?: number;
}

function conditionsOf(object: AnyObject): readonly Condition[] {
  return (object["status"] as { conditions?: Condition[] } | undefined)?.conditions ?? [];
}

/** As `kubectl wait`: a condition about an earlier generation does not count. */
function isCurrent({ observedGeneration }: Condition, { metadata }: AnyObject): boolean {
  return observedGeneration === undefined || observedGeneration >= (metadata.generation ?? 0);
}
