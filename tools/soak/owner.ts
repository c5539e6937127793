import type { Random } from "@konverge/core";
import { type Answer, Connection } from "./connection.ts";
import { type StoredObject, seen, VALUE, type Write } from "./ledger.ts";
import { NAMESPACES, pathOf, RESOURCES, type Resource } from "./resources.ts";
import type { Stage } from "./stage.ts";

interface Owned {
  readonly resource: Resource;
  readonly key: string;
  /** As the server last answered; undefined while it does not exist. */
  object: StoredObject | undefined;
}

type Step = (owned: Owned) => Promise<void>;

/** How many objects it has at a time. */
const OBJECTS = 12;

/**
 * A client with objects of its own, which nobody else writes: so it knows what every answer must be. An object whose write
 * went without an answer is left alone for ever: the write may still happen, or may have happened.
 */
export class Owner {
  readonly #stage: Stage;
  readonly #random: Random;
  readonly #name: string;
  readonly #connection: Connection;
  #objects: Owned[] = [];
  #count = 0;

  constructor(name: string, stage: Stage, random: Random) {
    this.#name = name;
    this.#stage = stage;
    this.#random = random;
    this.#connection = new Connection(stage.access);
  }

  async run(): Promise<void> {
    while (!this.#stage.over) {
      await this.#stage.up();
      const owned = this.#choose();
      const steps: Step[] = owned.object
        ? [this.#replace, this.#replace, this.#merge, this.#jsonPatch, this.#apply, this.#delete]
        : [this.#create, this.#create, this.#apply];
      try {
        await this.#random.pick(steps)(owned);
      } catch {
        // No answer: the write stays doubtful, and its object is given up.
        this.#objects = this.#objects.filter((one) => one !== owned);
      }
    }
    this.#connection.close();
  }

  #choose(): Owned {
    if (this.#objects.length < OBJECTS) {
      const key = `${this.#random.pick(NAMESPACES)}/${this.#name}-${this.#count++}`;
      this.#objects.push({ resource: this.#random.pick(RESOURCES), key, object: undefined });
    }
    return this.#random.pick(this.#objects);
  }

  readonly #create: Step = (owned) =>
    this.#put(owned, 201, (value) => {
      const collection = pathOf(owned.resource, owned.key.split("/")[0]);
      return this.#connection.ask("POST", collection, this.#content(owned, value));
    });

  readonly #replace: Step = (owned) =>
    this.#put(owned, 200, (value) => {
      const { metadata, ...rest } = owned.object!;
      const { annotations } = this.#content(owned, value).metadata;
      return this.#connection.ask("PUT", pathOf(owned.resource, owned.key), {
        ...rest,
        metadata: { ...metadata, annotations },
      });
    });

  readonly #merge: Step = (owned) =>
    this.#patch(owned, 200, "application/merge-patch+json", (value) => this.#content(owned, value));

  readonly #apply: Step = (owned) =>
    this.#patch(owned, owned.object ? 200 : 201, "application/apply-patch+yaml", (value) =>
      this.#content(owned, value),
    );

  readonly #jsonPatch: Step = (owned) =>
    this.#patch(owned, 200, "application/json-patch+json", (value) => [
      { op: "test", path: "/metadata/resourceVersion", value: owned.object!.metadata.resourceVersion },
      { op: "add", path: `/metadata/annotations/${VALUE.replace("/", "~1")}`, value },
    ]);

  readonly #delete: Step = async (owned) => {
    const write = this.#begin(owned);
    const { uid } = owned.object!.metadata;
    const body = this.#random.below(2) === 0 ? { preconditions: { uid } } : undefined;
    const answer = await this.#answered(write, this.#connection.ask("DELETE", pathOf(owned.resource, owned.key), body));
    if (this.#expect(write, answer, 200)) owned.object = undefined;
  };

  #patch(owned: Owned, expected: number, type: string, body: (value: string) => object): Promise<void> {
    const query = type.includes("apply") ? `?fieldManager=${this.#name}&force=true` : "";
    const path = `${pathOf(owned.resource, owned.key)}${query}`;
    return this.#put(owned, expected, (value) => this.#connection.ask("PATCH", path, body(value), type));
  }

  async #put(owned: Owned, expected: number, send: (value: string) => Promise<Answer<StoredObject>>): Promise<void> {
    const value = `${this.#name}.${this.#stage.ledger.writes.length}`;
    const write = this.#begin(owned, value);
    const answer = await this.#answered(write, send(value));
    if (!this.#expect(write, answer, expected)) return;
    const { revision, value: stored } = seen(answer.body);
    if (stored !== value) this.#stage.ledger.surprise(`${write.key}: ${stored} was stored in place of ${value}`);
    const before = owned.object && seen(owned.object);
    if (before && before.revision >= revision) {
      this.#stage.ledger.surprise(`${write.key}: version ${revision} after ${before.revision}`);
    }
    write.revision = revision;
    owned.object = answer.body;
  }

  #begin({ resource, key }: Owned, value?: string): Write {
    return this.#stage.ledger.begin({ resource: resource.plural, key, ...(value !== undefined && { value }) }, true);
  }

  async #answered<T>(write: Write, asked: Promise<Answer<T>>): Promise<Answer<T>> {
    write.outcome = "doubtful";
    return asked;
  }

  #expect(write: Write, { status, body }: Answer, expected: number): boolean {
    write.outcome = status < 300 ? "acknowledged" : "refused";
    if (status === expected) return true;
    const said = (body as { message?: string }).message ?? "";
    this.#stage.ledger.surprise(`${write.resource} ${write.key}: ${status} ${said} in place of ${expected}`);
    throw new Error("the object is not as its owner knows it");
  }

  #content({ resource, key }: Owned, value: string) {
    const [namespace, name] = key.split("/");
    const padding = "x".repeat(this.#random.below(8) === 0 ? 20_000 : this.#random.below(500));
    const annotations = { [VALUE]: value, padding };
    return { apiVersion: resource.apiVersion, kind: resource.kind, metadata: { namespace, name, annotations } };
  }
}
