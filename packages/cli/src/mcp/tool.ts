import type { z } from "@konverge/schema";

/** What an agent knows of a tool. */
export interface ToolDescription<I> {
  readonly name: string;
  readonly description: string;
  /** The schema of its arguments. Default: it has none. */
  readonly input?: z.ZodType<I>;
  /** It changes a cluster, or runs code. */
  readonly writes?: boolean;
}

/** Takes tools: what the function returns is the answer, as text or as JSON. */
export type ToolList = <I = Record<string, never>>(
  tool: ToolDescription<I>,
  answer: (input: I) => Promise<string | object>,
) => void;
