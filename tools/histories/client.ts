import { type Random, sleep } from "@konverge/core";
import { type Answer, Connection, LostResponse } from "./connection.ts";
import { idOf } from "./evidence.ts";
import type { Action, Operation, Result, Version } from "./history.ts";
import { Lister } from "./lister.ts";
import {
  content,
  isOurs,
  pathOf,
  RESOURCES,
  type Resource,
  SHARDS,
  type Stage,
  type StoredObject,
  versionOf,
} from "./stage.ts";

type Request = Parameters<Connection["ask"]>;

interface Status {
  reason?: string;
  message?: string;
  details?: { name?: string; uid?: string };
}

const VERBS = [
  ...Array(4).fill("create"),
  ...Array(8).fill("get"),
  ...Array(3).fill("get at"),
  ...Array(9).fill("update"),
  ...Array(4).fill("patch"),
  ...Array(3).fill("apply"),
  ...Array(4).fill("delete"),
  ...Array(4).fill("list"),
] as const;

/** Writes after which an object is left to itself, so that histories of one object stay short. */
const LIFETIME = 80;

/** A client that reads and writes objects that others write at the same time, and records each request and its result. */
export class Client {
  readonly name: string;
  readonly #stage: Stage;
  readonly #random: Random;
  readonly #connection: Connection;
  readonly #lister: Lister;
  #writes = 0;

  constructor(name: string, stage: Stage, random: Random) {
    this.name = name;
    this.#stage = stage;
    this.#random = random;
    this.#connection = new Connection(stage.access);
    this.#lister = new Lister(name, stage, random, this.#connection);
  }

  async run(): Promise<void> {
    while (!this.#stage.isOver) {
      await this.#stage.up();
      const resource = this.#random.pick(RESOURCES);
      const verb = this.#random.pick(VERBS);
      if (verb === "list") await this.#lister.list(resource);
      else await this.#operate(resource, this.#name(resource), verb);
      await sleep(this.#stage.clock, this.#random.below(20));
    }
    this.#connection.close();
  }

  /** One operation of a given kind. */
  async create(resource: Resource, name: string): Promise<Operation> {
    return this.#perform(resource, name, { verb: "create", value: this.#value(), shard: "a" }, 60_000);
  }

  /** An object that is written at present; after a while another takes its place. */
  #name(resource: Resource): string {
    const names = this.#stage.names.get(resource.plural)!;
    const at = this.#random.below(names.length);
    if (this.#random.below(LIFETIME) === 0) {
      const [before = ""] = names.splice(at, 1, this.#random.uuid().slice(0, 8));
      // It may remain; most are deleted, so that lists stay short.
      if (this.#random.below(4) > 0) return before;
    }
    return names[at]!;
  }

  async #operate(resource: Resource, name: string, verb: (typeof VERBS)[number]): Promise<void> {
    // An impatient client's connection ends in the middle of its request.
    const patience = this.#random.below(25) === 0 ? 1 + this.#random.below(30) : 20_000;
    const action = this.#action(`${resource.plural}/${name}`, verb);
    const { result } = await this.#perform(resource, name, action, patience);
    if (result.is === "unknown") await sleep(this.#stage.clock, 20 + this.#random.below(100));
  }

  #action(id: string, verb: (typeof VERBS)[number]): Action {
    const known = this.#stage.known.get(id);
    const [value, shard] = [this.#value(), this.#random.pick(SHARDS)];
    switch (verb) {
      case "get":
        return { verb };
      case "get at":
        return { verb: "get", at: String(this.#random.pick([0, ...this.#stage.revisions.slice(-3)])) };
      case "update":
        return known ? { verb, value, shard, revision: known.revision } : { verb: "create", value, shard };
      case "delete": {
        if (!known) return { verb };
        const [uid, revision] = [this.#random.below(2), this.#random.below(2)];
        return { verb, ...(uid === 1 && { uid: known.uid }), ...(revision === 1 && { revision: known.revision }) };
      }
      default:
        return { verb: verb as "create" | "patch" | "apply", value, shard };
    }
  }

  #value(): string {
    return `${this.name}-${++this.#writes}`;
  }

  async #perform(resource: Resource, name: string, action: Action, patience: number): Promise<Operation> {
    const { clock, history } = this.#stage;
    const operation: Operation = {
      client: this.name,
      resource: resource.plural,
      name,
      action,
      called: clock.monotonic(),
      returned: Number.POSITIVE_INFINITY,
      result: { is: "unknown" },
    };
    history.operations.push(operation);
    const [method, path, options] = requestOf(resource, name, action);
    const answer = await this.#connection
      .ask<StoredObject & Status>(method, path, { ...options, patience })
      .catch((error) => {
        if (error instanceof LostResponse) return undefined;
        throw error;
      });
    operation.result = answer ? this.#resultOf(resource, operation, answer) : { is: "unknown" };
    if (operation.result.is !== "unknown") operation.returned = clock.monotonic();
    if ("version" in operation.result) this.#note(operation.result.version);
    return operation;
  }

  #note(version: Version): void {
    const { known, revisions } = this.#stage;
    if (!isOurs(version)) this.#stage.history.surprises.push(`${version.name} has no value`);
    known.set(idOf(version), version);
    revisions.push(version.revision);
    if (revisions.length > 500) revisions.splice(0, 250);
  }

  #resultOf(resource: Resource, { action, name }: Operation, { status, body }: Answer<StoredObject & Status>): Result {
    if (status === 200 || status === 201) {
      if (action.verb === "delete") {
        if (body.details?.uid === undefined) this.#surprise(`a deletion was answered without a uid`, body);
        return { is: "deleted", uid: body.details?.uid ?? "" };
      }
      const version = versionOf(resource, body);
      if (action.verb === "get") return { is: "found", version };
      if (version.value !== action.value || version.shard !== action.shard)
        this.#surprise("another object was returned", body);
      const isNew = action.verb === "create" ? true : action.verb === "apply" ? status === 201 : false;
      return { is: "stored", version, isNew };
    }
    if (status === 404 && body.details?.name === name) return { is: "absent" };
    if (status === 409 && body.reason === "AlreadyExists") return { is: "exists" };
    if (status === 409) return { is: "conflict" };
    if (status === 429) return { is: "refused" };
    if (status >= 500) return { is: "unknown" };
    this.#surprise(`${action.verb} was answered with ${status}`, body);
    return { is: "unknown" };
  }

  #surprise(what: string, body: unknown): void {
    this.#stage.history.surprises.push(`${this.name}: ${what}: ${JSON.stringify(body).slice(0, 300)}`);
  }
}

function requestOf(resource: Resource, name: string, action: Action): Request {
  const path = pathOf(resource, name);
  switch (action.verb) {
    case "get":
      return ["GET", action.at === undefined ? path : `${path}?resourceVersion=${action.at}`];
    case "create":
      return ["POST", pathOf(resource), { body: content(resource, name, action.value, action.shard) }];
    case "update":
      return ["PUT", path, { body: content(resource, name, action.value, action.shard, action.revision) }];
    case "patch": {
      const body = content(resource, name, action.value, action.shard);
      return ["PATCH", path, { body, type: "application/merge-patch+json" }];
    }
    case "apply": {
      const body = content(resource, name, action.value, action.shard);
      return ["PATCH", `${path}?fieldManager=histories&force=true`, { body, type: "application/apply-patch+yaml" }];
    }
    case "delete": {
      const resourceVersion = action.revision === undefined ? undefined : String(action.revision);
      const preconditions = { uid: action.uid, resourceVersion };
      return ["DELETE", path, { body: { apiVersion: "v1", kind: "DeleteOptions", preconditions } }];
    }
  }
}
