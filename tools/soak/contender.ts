import type { Random } from "@konverge/core";
import { Connection } from "./connection.ts";
import { type StoredObject, seen, VALUE } from "./ledger.ts";
import { NAMESPACES, pathOf, RESOURCES, type Resource } from "./resources.ts";
import type { Stage } from "./stage.ts";

/** The objects that all contenders write, as `namespace/name`. */
export const CONTESTED: readonly string[] = NAMESPACES.map((namespace) => `${namespace}/contested`);

/** Counts the steps of one contender in an object. */
export const counterOf = (contender: string): string => `soak.example.com/${contender}`;

/**
 * A client that counts in objects which others write too: reads, adds one to its own counter and replaces, which must fail
 * whenever somebody was faster. So a step that was acknowledged can never be missing later.
 */
export class Contender {
  readonly name: string;
  /** Of each object, the last step that was acknowledged, and the last that was tried. */
  readonly steps = new Map<string, { acknowledged: number; tried: number }>();
  readonly #stage: Stage;
  readonly #random: Random;
  readonly #connection: Connection;

  constructor(name: string, stage: Stage, random: Random) {
    this.name = name;
    this.#stage = stage;
    this.#random = random;
    this.#connection = new Connection(stage.access);
  }

  async run(): Promise<void> {
    while (!this.#stage.over) {
      await this.#stage.up();
      await this.#step(this.#random.pick(RESOURCES), this.#random.pick(CONTESTED)).catch(() => {});
    }
    this.#connection.close();
  }

  async #step(resource: Resource, key: string): Promise<void> {
    const { ledger } = this.#stage;
    const path = pathOf(resource, key);
    const { status, body: object } = await this.#connection.ask<StoredObject>("GET", path);
    const [namespace, name] = key.split("/");
    const isNew = status === 404;
    const metadata = isNew ? { namespace, name } : object.metadata;
    const annotations = isNew ? {} : object.metadata.annotations!;
    const id = `${resource.plural} ${key}`;
    const counter = counterOf(this.name);
    const before = Number(annotations[counter] ?? 0);
    const steps = this.steps.get(id) ?? { acknowledged: 0, tried: 0 };
    this.steps.set(id, steps);
    if (before < steps.acknowledged || before > steps.tried) {
      ledger.surprise(`${id}: ${this.name} reads step ${before}, but knows of ${steps.acknowledged} to ${steps.tried}`);
    }
    const value = `${this.name}.${ledger.writes.length}`;
    const write = ledger.begin({ resource: resource.plural, key, value }, false);
    // A step that nobody answers for may still be stored later: no other step must look like it.
    const step = Math.max(before, steps.tried) + 1;
    steps.tried = step;
    const next = {
      ...(isNew ? { apiVersion: resource.apiVersion, kind: resource.kind } : object),
      metadata: { ...metadata, annotations: { ...annotations, [counter]: String(step), [VALUE]: value } },
    };
    write.outcome = "doubtful";
    const answer = isNew
      ? await this.#connection.ask<StoredObject>("POST", pathOf(resource, namespace), next)
      : await this.#connection.ask<StoredObject>("PUT", path, next);
    write.outcome = answer.status < 300 ? "acknowledged" : "refused";
    if (answer.status < 300) {
      write.revision = seen(answer.body).revision;
      steps.acknowledged = step;
    } else if (answer.status !== 409) ledger.surprise(`${id}: ${answer.status} in place of a conflict`);
  }
}
