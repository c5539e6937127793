import type { Operator, OperatorContext, OperatorParts } from "@konverge/runtime";
import { UsageError } from "../usage-error.ts";

/** Creates the controllers and webhooks of an operator; what it throws is usually about its settings. */
export function createParts(operator: Operator, context: OperatorContext): OperatorParts {
  try {
    return operator.create(context);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${operator.name} cannot be created with these settings: ${why}`, { cause: error });
  }
}
