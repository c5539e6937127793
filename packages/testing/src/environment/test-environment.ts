import type { Client } from "@konverge/client";
import type { Cluster } from "@konverge/cluster";
import type { ApiRequest, ApiResponse, Clock, KindRef, KubeObject, Transport } from "@konverge/core";
import type { StartableOperator, StartOperatorOptions } from "./runnable-operator.ts";

export type { StartableOperator, StartOperatorOptions } from "./runnable-operator.ts";

/** A running operator. It outlives crashes of its process. */
export interface RunningOperator {
  /** Stops it gracefully and removes the registrations of its webhooks. */
  stop(): Promise<void>;
  /** Kills its process: nothing is finished and its memory is lost. Start it again with {@link restart}. */
  crash(): void;
  /** Starts a new process in place of one that crashed. */
  restart(): Promise<void>;
  /** Its metrics in Prometheus' text format. */
  metrics(): Promise<string>;
  /** The warnings and errors that it has logged. */
  readonly warnings: readonly string[];
}

/** Decides what happens to an operator's request: `next` sends it on. */
export type RequestFault = (request: ApiRequest, next: Transport) => Promise<ApiResponse>;

/** The output and exit code of a command. */
export interface CommandResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

/** Options for a shell command. */
export interface ShellOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Where a scenario runs: the embedded cluster, on virtual or real time, or a real control plane. */
export interface TestEnvironment {
  readonly where: "embedded" | "real";
  /** A client with all permissions. */
  readonly client: Client;
  readonly clock: Clock;
  /** A new namespace for this scenario. */
  readonly namespace: string;
  /** The embedded cluster, for what only it has: images, nodes, faults. */
  readonly cluster: Cluster | undefined;
  /**
   * Installs the operator's CRDs and starts it as a fresh process, under a service account that has exactly the generated
   * role. Its webhooks are served, too.
   */
  start(operator: StartableOperator, options?: StartOperatorOptions): Promise<RunningOperator>;
  /** Only installs the operator's CRDs. */
  install(operator: Pick<StartableOperator, "name" | "kinds">): Promise<void>;
  /** Applies YAML of several documents as `kubectl apply --server-side` would, into the test namespace unless it names one. */
  apply(yaml: string | object): Promise<void>;
  /** The object with this name in the test namespace, or with a key that names another namespace. */
  get<T extends KubeObject>(kind: KindRef<T>, name: string): Promise<T>;
  find<T extends KubeObject>(kind: KindRef<T>, name: string): Promise<T | undefined>;
  /** The objects of the test namespace. */
  list<T extends KubeObject>(kind: KindRef<T>, labelSelector?: string): Promise<readonly T[]>;
  /** The status and reason of a condition, such as `True Available`; undefined if the object does not have it. */
  condition(kind: KindRef<KubeObject>, name: string, type: string): Promise<string | undefined>;
  /** The events about an object, oldest first: `Warning QuotaExceeded …`. */
  events(kind: KindRef<KubeObject>, name: string): Promise<string[]>;
  /**
   * Waits until the condition holds, on virtual or real time. Fails after `timeout` milliseconds with a message that names
   * what it waited for and lists the state of the objects.
   */
  until(what: string, condition: () => Promise<boolean> | boolean, timeout?: number): Promise<void>;
  /** Waits until the cluster is idle. */
  settled(): Promise<void>;
  /** Advances virtual time, or waits in real time. */
  advance(ms: number): Promise<void>;
  /** The number of writes by operators so far, without leases and webhook registrations. */
  writes(): number;
  /** From now on this fault happens to the operators' requests; undefined removes it. */
  injectFault(fault: RequestFault | undefined): void;
  /** Runs kubectl against the cluster, in the test namespace. Not available on virtual time. */
  kubectl(...args: string[]): Promise<CommandResult>;
  /** Runs a line of bash in which `kubectl` uses the cluster and the test namespace. */
  shell(command: string, options?: ShellOptions): Promise<CommandResult>;
}

/** A function that acts in a test environment and asserts what it expects. */
export type Scenario = (environment: TestEnvironment) => Promise<void>;
