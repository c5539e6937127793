import assert from "node:assert/strict";
import {
  type AnyObject,
  compareVersions,
  groupKindText,
  isNotFound,
  type KindRef,
  type KubeObject,
  keyOf,
} from "@konverge/core";
import { CustomResourceDefinition, Event, Namespace, ServiceAccount } from "@konverge/kinds";
import { rolesFor } from "@konverge/runtime";
import { type AnyKind, parseYaml } from "@konverge/schema";
import { ExternalSystems } from "../external/external-system.ts";
import { HostedOperator, type Traffic } from "./hosted-operator.ts";
import { imagesIn } from "./named-images.ts";
import { PrematureReadiness } from "./premature-readiness.ts";
import type { ProcessExit } from "./process-exit.ts";
import { report } from "./report.ts";
import {
  type RunnableOperator,
  runnable,
  type StartableOperator,
  type StartOperatorOptions,
} from "./runnable-operator.ts";
import type { FaultInjector, TestBackend } from "./test-backend.ts";
import type {
  CommandResult,
  RequestFault,
  RunningOperator,
  ShellOptions,
  TestEnvironment,
} from "./test-environment.ts";

/** The field manager of what a scenario's user applies. */
const USER = "user";

/** A test environment on any backend. */
export class OperatorTestEnvironment implements TestEnvironment {
  readonly where: TestEnvironment["where"];
  readonly client: TestEnvironment["client"];
  readonly clock: TestEnvironment["clock"];
  readonly namespace: string;
  readonly cluster: TestEnvironment["cluster"];
  /** The external systems beside this cluster. */
  readonly externalSystems: ExternalSystems;
  readonly #backend: TestBackend;
  readonly #faults: FaultInjector;
  readonly #traffic: Traffic = { requests: 0, writes: 0, steps: 0, fault: undefined };
  readonly #operators: HostedOperator[] = [];
  readonly #kinds = new Set<AnyKind>();
  /** Those whose readiness follows rules of their own. */
  readonly #ownReadiness = new Set<AnyKind>();
  readonly #readiness: PrematureReadiness | undefined;

  constructor(backend: TestBackend, faults: FaultInjector = {}) {
    this.#backend = backend;
    this.#faults = faults;
    this.externalSystems = new ExternalSystems(faults.externalCall);
    this.where = backend.where;
    this.client = backend.client;
    this.clock = backend.clock;
    this.namespace = backend.namespace;
    this.cluster = backend.cluster;
    const kinds = () => new Set(this.kinds.filter((kind) => !this.#ownReadiness.has(kind)).map(groupKindText));
    this.#readiness = backend.cluster && new PrematureReadiness(backend.cluster, kinds);
  }

  async start(startable: StartableOperator, options: StartOperatorOptions = {}): Promise<RunningOperator> {
    const operator = runnable(startable);
    if (operator.hasOwnReadiness) for (const kind of operator.kinds) this.#ownReadiness.add(kind);
    await this.install(operator);
    for (const image of imagesIn(operator.settings(options.settings ?? {}))) this.cluster?.image(image);
    const home = `${this.namespace}-system`;
    await this.until(`nothing is left of an earlier ${home}`, async () => {
      return (await this.find(Namespace, home))?.metadata.deletionTimestamp === undefined;
    });
    await this.#ensure(Namespace, { metadata: { name: home } });
    await this.#allow(operator, home, options);
    const hosted = new HostedOperator(
      operator,
      {
        backend: this.#backend,
        home,
        replica: this.#operators.length + 1,
        traffic: this.#traffic,
        faults: this.#faults,
        systems: this.externalSystems,
      },
      options,
    );
    this.#operators.push(hosted);
    await hosted.restart();
    return hosted;
  }

  async install(operator: Pick<StartableOperator, "name" | "kinds">): Promise<void> {
    for (const kind of operator.kinds) {
      this.#kinds.add(kind);
      const name = `${kind.plural}.${kind.group}`;
      const crd = crdOf(kind, this.#backend.conversionUrl(operator.name));
      await this.client.apply(CustomResourceDefinition, crd as never, { fieldManager: "installer", force: true });
      await this.until(`the CRD ${name} is established`, async () => {
        const { status } = await this.client.get(CustomResourceDefinition, name);
        return status?.conditions?.some((one) => one.type === "Established" && one.status === "True") ?? false;
      });
    }
    for (const kind of operator.kinds) await this.until(`${kind.plural} are served`, () => this.#isServed(kind));
  }

  async apply(yaml: string | object): Promise<void> {
    const documents = typeof yaml === "string" ? parseYaml(yaml) : [yaml];
    for (const document of documents as AnyObject[]) {
      const kind = await this.client.mapper.resolve(document).catch(async () => {
        await this.#backend.wait(this.client.mapper.refresh());
        return this.client.mapper.resolve(document);
      });
      const namespace = kind.namespaced ? { namespace: document.metadata.namespace ?? this.namespace } : {};
      const object = { ...document, metadata: { ...document.metadata, ...namespace } };
      await this.client.apply(kind, object as never, { fieldManager: USER, force: true });
    }
  }

  get<T extends KubeObject>(kind: KindRef<T>, name: string): Promise<T> {
    return this.client.get(kind, this.#key(kind, name));
  }

  async find<T extends KubeObject>(kind: KindRef<T>, name: string): Promise<T | undefined> {
    try {
      return await this.get(kind, name);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async list<T extends KubeObject>(kind: KindRef<T>, labelSelector?: string): Promise<readonly T[]> {
    const where = kind.namespaced ? { namespace: this.namespace } : {};
    return (await this.client.list(kind, { ...where, ...(labelSelector && { labelSelector }) })).items;
  }

  async condition(kind: KindRef<KubeObject>, name: string, type: string): Promise<string | undefined> {
    const object = (await this.find(kind, name)) as AnyObject | undefined;
    const { conditions } = (object?.["status"] ?? {}) as {
      conditions?: { type: string; status: string; reason?: string }[] | null;
    };
    const found = conditions?.find((one) => one.type === type);
    return found && `${found.status} ${found.reason ?? ""}`.trim();
  }

  async events(kind: KindRef<KubeObject>, name: string): Promise<string[]> {
    const events = await this.list(Event);
    return events
      .filter(({ involvedObject }) => involvedObject.kind === kind.kind && involvedObject.name === name)
      .sort(byTime)
      .map(({ type, reason, message }) => `${type} ${reason} ${message}`);
  }

  async until(what: string, condition: () => Promise<boolean> | boolean, timeout?: number): Promise<void> {
    const { clock, timeout: patience } = this.#backend;
    const start = clock.monotonic();
    const end = start + (timeout ?? patience);
    for (;;) {
      await this.advance(0);
      if (await condition()) return;
      this.#checkOperators();
      const now = clock.monotonic();
      if (now > end) assert.fail(`it never came true that ${what}\n${await this.#report()}`);
      // What takes long is looked at less often.
      await this.advance(Math.min(Math.max(50, (now - start) / 20), 10_000));
    }
  }

  async settled(): Promise<void> {
    await this.#backend.settled(() => this.#traffic.writes);
    this.#readiness?.follow();
    this.#checkOperators();
  }

  async advance(ms: number): Promise<void> {
    await this.#backend.advance(ms);
    this.#readiness?.follow();
  }

  /** The objects that were ready, by kstatus' rules, before their children were, as sentences. */
  get prematureReadiness(): readonly string[] {
    this.#readiness?.follow();
    return this.#readiness?.problems ?? [];
  }

  writes(): number {
    return this.#traffic.writes;
  }

  /** The writes at which a crash can be tried: all but events. */
  get steps(): number {
    return this.#traffic.steps;
  }

  /** All requests that the operators have made so far. */
  get requests(): number {
    return this.#traffic.requests;
  }

  /** What the operators have logged as warnings and errors, all together. */
  get warnings(): readonly string[] {
    return this.#operators.flatMap(({ warnings }) => warnings);
  }

  /** How processes of the operators ended that were not killed. */
  get exits(): readonly ProcessExit[] {
    return this.#operators.flatMap(({ exits }) => exits);
  }

  injectFault(fault: RequestFault | undefined): void {
    this.#traffic.fault = fault;
  }

  kubectl(...args: string[]): Promise<CommandResult> {
    return this.shell(`kubectl ${args.map(quoted).join(" ")}`);
  }

  shell(command: string, options: ShellOptions = {}): Promise<CommandResult> {
    return this.#backend.shell(command, options);
  }

  /** The kinds of all operators that were installed here. */
  get kinds(): readonly AnyKind[] {
    return [...this.#kinds];
  }

  /** Stops all running operators. */
  async end(): Promise<void> {
    for (const operator of this.#operators) await operator.stop();
  }

  #report(): Promise<string> {
    return report(this, this.kinds, this.#operators);
  }

  #checkOperators(): void {
    for (const { failure } of this.#operators) if (failure !== undefined) throw failure;
  }

  /** Gives the operator's account the roles that its declaration leads to, and nothing else. */
  async #allow(operator: RunnableOperator, home: string, options: StartOperatorOptions): Promise<void> {
    const accesses = operator.permissions(home, options);
    await this.#ensure(ServiceAccount, { metadata: { name: operator.name, namespace: home } });
    const account = { name: operator.name, namespace: home };
    const allowed = this.#faults.restrictPermissions?.(accesses) ?? accesses;
    for (const role of rolesFor(allowed, { name: `${operator.name}.${home}`, serviceAccount: account })) {
      const kind = await this.client.mapper.resolve(role);
      await this.client.apply(kind, role as never, { fieldManager: "installer", force: true });
    }
    for (const policy of operator.guard?.(home) ?? []) {
      const kind = await this.client.mapper.resolve(policy);
      await this.client.apply(kind, policy as never, { fieldManager: "installer", force: true });
    }
    const who = { user: `system:serviceaccount:${home}:${operator.name}` };
    // Each namespace has its own role and binding, which need not take effect at the same time.
    for (const { verb, group, resource, namespace, name } of new Map(
      allowed.map((one) => [one.namespace, one]),
    ).values()) {
      const [plural = "", subresource] = resource.split("/");
      const where = { ...(subresource && { subresource }), ...(namespace && { namespace }), ...(name && { name }) };
      await this.until("the roles are in force", async () => {
        return (await this.client.canI({ verb, kind: { group, plural }, ...where }, { who })).allowed;
      });
    }
  }

  async #ensure<T extends KubeObject>(kind: KindRef<T>, object: { metadata: { name: string; namespace?: string } }) {
    const found = await this.find(kind, keyOf(object));
    if (!found) await this.client.create(kind, object as never);
  }

  #isServed(kind: KindRef<KubeObject>): Promise<boolean> {
    return this.client.list(kind, { limit: 1 }).then(
      () => true,
      () => false,
    );
  }

  #key(kind: KindRef<KubeObject>, name: string): string {
    return kind.namespaced && !name.includes("/") ? `${this.namespace}/${name}` : name;
  }
}

/** Kinds that are converted by functions need to know where these will be. */
function crdOf(kind: AnyKind, url: string): CustomResourceDefinition {
  const { definition } = kind as { definition?: { conversion?: object } };
  return kind.crd(definition?.conversion ? { conversionWebhook: { url } } : {});
}

/** In virtual time many events have the same time: what was written first comes first. */
function byTime(a: Event, b: Event): number {
  if (timeOf(a) !== timeOf(b)) return timeOf(a) < timeOf(b) ? -1 : 1;
  return compareVersions(a.metadata.resourceVersion, b.metadata.resourceVersion);
}

function timeOf({ eventTime, firstTimestamp, lastTimestamp }: Event): string {
  return eventTime ?? firstTimestamp ?? lastTimestamp ?? "";
}

function quoted(argument: string): string {
  return /^[\w./:=,@-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`;
}
