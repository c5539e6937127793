import { llmOperator } from "@konverge/llm-operator";
import type { Operator } from "konverge";

/** Every operator of this repository, in the order in which they are listed to users. */
export const operators: readonly Operator[] = [llmOperator];
