import type { Operator, OperatorContext, OperatorParts } from "@konverge/runtime";
import { UsageError } from "../usage-error.ts";

/** Creates the controllers and webhooks of an operator; what it throws is usually about its settings. */
export function createParts(operator: Operator, context: OperatorContext): OperatorParts {
  try {
    // A module may export an operator that was written as a plain object.
    const parts: Partial<OperatorParts> & Pick<OperatorParts, "controllers"> = operator.create(context);
    return { ...parts, conversions: parts.conversions ?? [] };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${operator.name} cannot be created with these settings: ${why}`, { cause: error });
  }
}
