import { Client } from "@konverge/client";
import type { Clock, Transport } from "@konverge/core";
import {
  hasWebhooks,
  type Log,
  Manager,
  Metrics,
  type Operator,
  type OperatorContext,
  type OperatorParts,
  silentLog,
  Webhooks,
} from "@konverge/runtime";

/** What a process of an operator is started with. */
export interface ProcessOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  /** The namespace of what it keeps for itself. */
  readonly home: string;
  readonly settings?: Readonly<Record<string, string>>;
  readonly namespaces?: readonly string[];
  readonly namespaced?: boolean;
  readonly log?: Log;
}

/** What an operator is made with: its settings, or their defaults. */
export function operatorContext(
  operator: Operator,
  metrics: OperatorContext["metrics"],
  options: { settings?: Readonly<Record<string, string>>; log?: Log } = {},
): OperatorContext {
  const settings: Record<string, string | undefined> = {};
  for (const { flag, default: value } of operator.settings ?? []) settings[flag] = value;
  for (const [flag, value] of Object.entries(options.settings ?? {})) {
    if (!(flag in settings)) throw new TypeError(`${operator.name} has no setting ${flag}`);
    settings[flag] = value;
  }
  return { metrics, settings, log: options.log ?? silentLog };
}

/** An operator as one process has it: its new parts, its manager, its webhooks, its metrics. */
export class OperatorProcess {
  readonly parts: OperatorParts;
  readonly webhooks: Webhooks | undefined;
  readonly #metrics: Metrics;
  /** Acts as the operator. */
  readonly client: Client;
  readonly #manager: Manager;

  constructor(operator: Operator, options: ProcessOptions) {
    const { transport, clock, home, namespaces, namespaced = false, log = silentLog } = options;
    this.#metrics = new Metrics({ clock, process: false });
    this.client = new Client(this.#metrics.transport()(transport), {
      clock,
      namespace: home,
      userAgent: operator.name,
    });
    this.parts = operator.create(operatorContext(operator, this.#metrics.registry, options));
    const { controllers, admissions = [], conversions } = this.parts;
    const observers = [this.#metrics];
    if (hasWebhooks(this.parts) && !namespaced)
      this.webhooks = new Webhooks({ admissions, conversions, clock, log, observers });
    this.#manager = new Manager(controllers, {
      client: this.client,
      log,
      observers,
      ...(namespaces && { namespaces }),
      namespaced,
    });
  }

  start(): Promise<void> {
    return this.#manager.start();
  }

  stop(): Promise<void> {
    return this.#manager.stop();
  }

  /** Without its clock and its transport it does nothing. */
  kill(): void {}

  metrics(): Promise<string> {
    return this.#metrics.text();
  }
}
