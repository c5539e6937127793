import type { CallWebhook } from "@konverge/apiserver";
import type { Client } from "@konverge/client";
import type { Clock, KubeObject, Transport } from "@konverge/core";
import {
  guardPolicy,
  type Log,
  Metrics,
  type Operator,
  operatorPermissions,
  type Permission,
  type Webhooks,
} from "@konverge/runtime";
import type { AnyKind } from "@konverge/schema";
import { OperatorProcess, operatorContext } from "./operator-process.ts";
import { type Program, ProgramProcess, programPermissions } from "./program.ts";

/** Options for starting an operator. */
export interface StartOperatorOptions {
  readonly settings?: Readonly<Record<string, string>>;
  /** The namespaces it watches. Default: all. */
  readonly namespaces?: readonly string[];
  /** Its permissions are Roles in these namespaces: no webhooks, and no cluster-scoped kinds. Default: false. */
  readonly namespaced?: boolean;
}

/** What a process is launched with. Its transport and its clock end with it: a process that was killed does nothing any more. */
export interface LaunchOptions extends StartOperatorOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  /** The namespace of what it keeps for itself. */
  readonly home: string;
  readonly log: Log;
  /** Counted from 1: each is launched after the one before it has died. */
  readonly number: number;
  /** Counted from 1 among all operators of the test environment. */
  readonly replica: number;
  /** Decides what chance decides in the process. */
  readonly seed: number;
  /** Called when the process exits without being killed. */
  exited(error: unknown): void;
}

/** A process of an operator. */
export interface LaunchedProcess {
  /** Acts as the operator. */
  readonly client: Client;
  /** Webhooks that the test environment serves and registers; an operator that registers its own has none here. */
  readonly webhooks: Webhooks | undefined;
  /** Answers calls of webhooks that are behind a Service, if it listens itself. */
  readonly answer?: CallWebhook;
  /** Resolves when the process works. */
  start(): Promise<void>;
  /** Stops it gracefully. */
  stop(): Promise<void>;
  /** Frees what it holds: it was killed. */
  kill(): void;
  /** Its metrics in Prometheus' text format. */
  metrics(): Promise<string>;
}

/**
 * An operator as a test environment runs it, in whichever language it is written: something that can be launched again and
 * again, and of which each process knows only what it is launched with.
 */
export interface RunnableOperator {
  readonly name: string;
  readonly kinds: readonly AnyKind[];
  /** Its status follows other rules than kstatus': that an object is ready before its children are is no problem then. Default: no. */
  readonly hasOwnReadiness?: boolean;
  /** Its settings with their defaults, such as images. */
  settings(given: Readonly<Record<string, string>>): Readonly<Record<string, string | undefined>>;
  /** What its service account is permitted to do. `home`: the namespace of what it keeps for itself. */
  permissions(home: string, options: StartOperatorOptions): readonly Permission[];
  /** Policies that limit what its service account writes, as its manifests install them. Default: none. */
  guard?(home: string): readonly KubeObject[];
  launch(options: LaunchOptions): LaunchedProcess;
}

/** What a scenario can start. */
export type StartableOperator = Operator | Program | RunnableOperator;

/** How to run it. */
export function runnable(operator: StartableOperator): RunnableOperator {
  if ("launch" in operator) return operator;
  return "main" in operator ? runnableProgram(operator) : runnableModule(operator);
}

function runnableModule(operator: Operator): RunnableOperator {
  return {
    name: operator.name,
    kinds: operator.kinds,
    settings(given) {
      const defaults = operator.settings?.map((one) => [one.flag, one.default]) ?? [];
      return { ...Object.fromEntries(defaults), ...given };
    },
    permissions(home, options) {
      const { registry } = new Metrics({ process: false });
      const parts = operator.create(operatorContext(operator, registry, options));
      const { namespaces, namespaced } = options;
      return operatorPermissions(operator, parts, {
        operatorNamespace: home,
        ...(namespaces && { namespaces }),
        ...(namespaced && { namespaced, webhookRegistration: "none" }),
      });
    },
    guard(home) {
      const parts = operator.create(operatorContext(operator, new Metrics({ process: false }).registry));
      return guardPolicy(operator, parts, { namespace: home });
    },
    launch: (options) => new OperatorProcess(operator, options),
  };
}

function runnableProgram(program: Program): RunnableOperator {
  return {
    name: program.name,
    kinds: program.kinds,
    settings: (given) => given,
    permissions: () => programPermissions(program),
    launch: (options) => new ProgramProcess(program, options),
  };
}
