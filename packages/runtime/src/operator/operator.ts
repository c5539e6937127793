import { type AnyKind, hasConversion } from "@konverge/schema";
import type { Registry } from "prom-client";
import type { Controller } from "../definition/definition.ts";
import type { Log } from "../log.ts";
import type { AdmissionWebhook } from "../webhooks/admission.ts";
import type { ConvertibleKind } from "../webhooks/review-conversion.ts";
import type { OperatorGuard } from "./guard.ts";

/** A setting of an operator: a command-line flag (`--natsAddr`) or an environment variable. */
export interface OperatorSetting {
  /** The flag without its dashes. */
  readonly flag: string;
  readonly env?: string;
  readonly default?: string;
  readonly description: string;
}

/** The argument of `create`. */
export interface OperatorContext {
  /** The registry for its own metrics. */
  readonly metrics: Registry;
  /** The values of its settings, by flag. */
  readonly settings: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
}

/** What an operator's `create` returns. */
export interface CreatedParts {
  readonly controllers: readonly Controller[];
  readonly admissions?: readonly AdmissionWebhook[];
}

/** What runs in an operator's process. */
export interface OperatorParts extends CreatedParts {
  /** Those of its kinds that have a `conversion`: it converts their objects. */
  readonly conversions: readonly ConvertibleKind[];
}

/** The definition of an operator: its kinds, and a function that creates its controllers and webhooks. */
export interface OperatorDefinition {
  /** The name of its Deployment, role, service account and lease: `llm-operator`. */
  readonly name: string;
  /** What it does, in one sentence. */
  readonly description: string;
  readonly kinds: readonly AnyKind[];
  readonly settings?: readonly OperatorSetting[];
  /** It connects to pods itself, for example to read their metrics: its NetworkPolicy allows that. Default: false. */
  readonly connectsToPods?: boolean;
  /** Conditions on what its service account writes, besides those of every operator. */
  readonly guards?: readonly OperatorGuard[];
  /**
   * Creates controllers and webhooks. Called once for each process, also for each simulated process of a test. Two
   * calls must not share state: otherwise a simulated crash would not lose the memory of the process.
   */
  create(context: OperatorContext): CreatedParts;
}

/** An operator, made by {@link operator}. */
export interface Operator extends OperatorDefinition {
  create(context: OperatorContext): OperatorParts;
}

/**
 * Defines an operator that the `konverge` command runs, installs and deploys:
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
export function operator(definition: OperatorDefinition): Operator {
  if (!/^[a-z0-9]([-a-z0-9]{0,50}[a-z0-9])?$/.test(definition.name)) {
    throw new TypeError(
      `${JSON.stringify(definition.name)} cannot be the name of an operator: use lowercase letters, digits and dashes, as in names of objects`,
    );
  }
  const conversions = definition.kinds.filter(hasConversion);
  return { ...definition, create: (context) => ({ ...definition.create(context), conversions }) };
}
