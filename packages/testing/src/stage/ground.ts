import type { Client } from "@konverge/client";
import type { Cluster } from "@konverge/cluster";
import type { Clock, Transport } from "@konverge/core";
import type { Permission, Webhooks } from "@konverge/runtime";
import type { CommandResult, ShellOptions, TestEnvironment } from "./stage.ts";

/** A process of an operator whose webhooks are to be reached. */
export interface WebhookProcess {
  readonly name: string;
  readonly home: string;
  readonly webhooks: Webhooks;
  /** Acts as the operator. */
  readonly client: Client;
  /** Resolves when the process dies: what it has begun is then never finished. */
  readonly died: Promise<void>;
}

/** What a stage stands on: a cluster, and how time passes there. */
export interface TestBackend {
  readonly where: TestEnvironment["where"];
  readonly client: Client;
  readonly clock: Clock;
  readonly namespace: string;
  readonly cluster: Cluster | undefined;
  /** Milliseconds to wait for something before it counts as never. */
  readonly timeout: number;
  /** The way to the API server as a service account. */
  connect(account: { name: string; namespace: string }): Promise<Transport>;
  /** Where CRDs with several versions send their conversions before the operator is there. */
  readonly conversionUrl: (operator: string) => string;
  /** Makes webhooks reachable and known; returns how to end that. Of a crashed process the registration stays. */
  register(process: WebhookProcess): Promise<(end?: { crashed: boolean }) => Promise<void>>;
  /** Waits for a promise, letting time pass as far as it needs. */
  wait<T>(promise: Promise<T>): Promise<T>;
  advance(ms: number): Promise<void>;
  /** Waits until nothing happens any more; `writes` tells how much the operators have written. */
  settled(writes: () => number): Promise<void>;
  shell(command: string, options: ShellOptions): Promise<CommandResult>;
}

/** Sees, and decides, what happens to an operator's process. */
export interface FaultInjector {
  /** Asked at each write but of events, counted from 1: whether the process dies with it, and whether it learns the answer before. */
  crashAt?(write: number): "before the answer" | "after the answer" | undefined;
  /** Called when such a write has taken effect, before the process learns of it. */
  afterWrite?(write: number): Promise<void>;
  /** Around each request that reaches the server. */
  around?(transport: Transport): Transport;
  /** The server refused a request of an operator: its role does not allow it. */
  denied?(message: string): void;
  /** What the operator is allowed, if not exactly what it declares. */
  restrictPermissions?(accesses: readonly Permission[]): readonly Permission[];
}
