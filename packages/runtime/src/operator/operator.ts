import type { AnyKind } from "@konverge/schema";
import type { Registry } from "prom-client";
import type { Controller } from "../definition/definition.ts";
import type { Log } from "../log.ts";
import type { AdmissionWebhook } from "../webhooks/admission.ts";
import type { ConvertibleKind } from "../webhooks/review-conversion.ts";

/** Something that whoever installs an operator may set: by a flag (`--natsAddr`) or by a variable of the environment. */
export interface OperatorSetting {
  /** The flag without its dashes. */
  readonly flag: string;
  readonly env?: string;
  readonly default?: string;
  readonly description: string;
}

/** What an operator is given when it is made. */
export interface OperatorContext {
  /** Where its own metrics are kept. */
  readonly metrics: Registry;
  /** Its settings, by flag: what was given, or the default. */
  readonly settings: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
}

/** What works in an operator's process. */
export interface OperatorParts {
  readonly controllers: readonly Controller[];
  readonly admissions?: readonly AdmissionWebhook[];
  /** Kinds of several versions, whose objects this operator converts. */
  readonly conversions?: readonly ConvertibleKind[];
}

/** An operator as it is written down: the kinds it brings, and how what works for them is made. */
export interface Operator {
  /** Names its Deployment, its role, its service account and its lease: `llm-operator`. */
  readonly name: string;
  /** What it does, in one sentence. */
  readonly description: string;
  readonly kinds: readonly AnyKind[];
  readonly settings?: readonly OperatorSetting[];
  /**
   * Makes all that works. Called once for each process and each simulated one: nothing may be shared between two calls, or
   * a crash in a test would not lose what a crash loses.
   */
  create(context: OperatorContext): OperatorParts;
}

/**
 * Defines an operator, which the `konverge` command can run, install and deploy:
 *
 * ```ts
 * export const llmOperator = operator({
 *   name: "llm-operator",
 *   description: "Serves large language models.",
 *   kinds: [LLMModel],
 *   create: () => ({ controllers: [llmModels] }),
 * });
 * ```
 */
export function operator(definition: Operator): Operator {
  if (!/^[a-z0-9]([-a-z0-9]{0,50}[a-z0-9])?$/.test(definition.name)) {
    throw new TypeError(
      `${JSON.stringify(definition.name)} cannot name an operator: it names objects, so use lower-case letters, digits and dashes`,
    );
  }
  return definition;
}
