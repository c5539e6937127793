import type { CallWebhook } from "@konverge/apiserver";
import type { Client } from "@konverge/client";
import type { Cluster } from "@konverge/cluster";
import type { Clock, Transport } from "@konverge/core";
import type { Permission, Webhooks } from "@konverge/runtime";
import type { AroundExternalCall } from "../external/external-system.ts";
import type { CommandResult, ShellOptions, TestEnvironment } from "./test-environment.ts";

/** An operator process that serves webhooks. */
export interface WebhookProcess {
  readonly name: string;
  readonly home: string;
  readonly webhooks: Webhooks;
  /** A client with the operator's permissions. */
  readonly client: Client;
}

/** A cluster on which test environments are built, and how time passes there. */
export interface TestBackend {
  readonly where: TestEnvironment["where"];
  readonly client: Client;
  readonly clock: Clock;
  readonly namespace: string;
  /** Decides what chance decides in the processes of operators, where that can be decided. Default: 1. */
  readonly seed?: number;
  readonly cluster: Cluster | undefined;
  /** Milliseconds after which a wait fails. */
  readonly timeout: number;
  /** A transport to the API server that authenticates as a service account. */
  connect(account: { name: string; namespace: string }): Promise<Transport>;
  /** The conversion webhook URL of CRDs with several versions while no operator runs. */
  readonly conversionUrl: (operator: string) => string;
  /** Serves and registers webhooks; returns a function that stops both. A crashed process leaves its registration behind. */
  register(process: WebhookProcess): Promise<(end?: { crashed: boolean }) => Promise<void>>;
  /** Answer the calls of webhooks behind Services: those of processes that listen. Undefined where nothing can reach them. */
  readonly listeners?: Set<CallWebhook>;
  /** Waits for a promise; virtual time advances as needed. */
  wait<T>(promise: Promise<T>): Promise<T>;
  advance(ms: number): Promise<void>;
  /** Waits until the cluster is idle; `writes` returns the number of writes by operators. */
  settled(writes: () => number): Promise<void>;
  shell(command: string, options: ShellOptions): Promise<CommandResult>;
}

/** Injects crashes and faults into an operator's process and observes its requests. */
export interface FaultInjector {
  /** Wraps the transport of each new process of the operator; `crash` kills that process, and the next one is started. */
  interpose?(transport: Transport, process: { readonly number: number; crash(): void }): Transport;
  /** The offset of the wall clock of the operator's process, in milliseconds. */
  skew?(): number;
  /** Stands between the operator's processes and external systems. */
  externalCall?: AroundExternalCall;
  /**
   * Called at each write except events, counted from 1: whether the process crashes at this write, before or after it
   * receives the response.
   */
  crashAt?(write: number): "before the answer" | "after the answer" | undefined;
  /** Called when such a write has taken effect, before the process receives the response. */
  afterWrite?(write: number): Promise<void>;
  /** Wraps the transport of each request that reaches the server. */
  around?(transport: Transport): Transport;
  /** The server rejected a request as forbidden: the operator's role does not permit it. */
  denied?(message: string): void;
  /** The operator's permissions, if they differ from those it declares. */
  restrictPermissions?(accesses: readonly Permission[]): readonly Permission[];
}
