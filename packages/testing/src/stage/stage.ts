import type { Client } from "@konverge/client";
import type { Cluster } from "@konverge/cluster";
import type { ApiRequest, ApiResponse, Clock, KindRef, KubeObject, Transport } from "@konverge/core";
import type { Operator } from "@konverge/runtime";

/** How an operator is started. */
export interface StartOperatorOptions {
  readonly settings?: Readonly<Record<string, string>>;
  /** The namespaces it looks after. Default: all. */
  readonly namespaces?: readonly string[];
}

/** An operator at work. It lives on when its process is crashed and started afresh. */
export interface RunningOperator {
  /** Ends it in good order, and takes its webhooks' registrations away so that nobody asks a process that is gone. */
  stop(): Promise<void>;
  /** Ends it as a power cut would: nothing is finished, nothing is remembered. Start it again with {@link restart}. */
  crash(): void;
  /** A fresh process in place of one that was crashed. */
  restart(): Promise<void>;
  /** Its metrics, as Prometheus would scrape them. */
  metrics(): Promise<string>;
  /** What it has logged as warnings and errors. */
  readonly warnings: readonly string[];
}

/** Decides what becomes of an operator's request: `next` sends it on. */
export type RequestFault = (request: ApiRequest, next: Transport) => Promise<ApiResponse>;

/** What a command said. */
export interface CommandResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

/** How a shell command is run. */
export interface ShellOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Somewhere to play a scenario: the embedded cluster, on virtual or real time, or a real control plane. */
export interface TestEnvironment {
  readonly where: "embedded" | "real";
  /** Acts as the administrator. */
  readonly client: Client;
  readonly clock: Clock;
  /** A fresh namespace for this scenario. */
  readonly namespace: string;
  /** The embedded cluster itself, for what only it has: images, nodes, faults. */
  readonly cluster: Cluster | undefined;
  /**
   * Installs the operator's CRDs and starts it as a fresh process, under a service account that has exactly the generated
   * role. Its webhooks are served, too.
   */
  start(operator: Operator, options?: StartOperatorOptions): Promise<RunningOperator>;
  /** Only installs the operator's CRDs. */
  install(operator: Operator): Promise<void>;
  /** Applies YAML of several documents as `kubectl apply --server-side` would, into the stage's namespace unless it names one. */
  apply(yaml: string | object): Promise<void>;
  /** The object of that name in the stage's namespace, or of a key that names another. */
  get<T extends KubeObject>(kind: KindRef<T>, name: string): Promise<T>;
  find<T extends KubeObject>(kind: KindRef<T>, name: string): Promise<T | undefined>;
  /** Those of the stage's namespace. */
  list<T extends KubeObject>(kind: KindRef<T>, labelSelector?: string): Promise<readonly T[]>;
  /** `True Available`, or undefined: how an object's condition stands. */
  condition(kind: KindRef<KubeObject>, name: string, type: string): Promise<string | undefined>;
  /** What was told about an object: `Warning QuotaExceeded …`, oldest first. */
  events(kind: KindRef<KubeObject>, name: string): Promise<string[]>;
  /**
   * Waits until it is so: virtual time passes, real time is waited for. Fails after `timeout` milliseconds, telling what it
   * waited for and how the objects stand.
   */
  until(what: string, condition: () => Promise<boolean> | boolean, timeout?: number): Promise<void>;
  /** Waits until nothing happens any more. */
  settled(): Promise<void>;
  /** Lets time pass. */
  advance(ms: number): Promise<void>;
  /** How many writes the operators have made so far, leases and the registration of webhooks aside. */
  writes(): number;
  /** From now on this happens to the operators' requests; undefined ends it. */
  injectFault(how: RequestFault | undefined): void;
  /** Runs kubectl against the cluster, in the stage's namespace. On virtual time it cannot. */
  kubectl(...args: string[]): Promise<CommandResult>;
  /** Runs a line of bash in which `kubectl` speaks to the cluster, in the stage's namespace. */
  shell(command: string, options?: ShellOptions): Promise<CommandResult>;
}

/** Something that happens on a stage. It asserts what it expects. */
export type Scenario = (stage: TestEnvironment) => Promise<void>;
