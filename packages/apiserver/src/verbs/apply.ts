import type { Call } from "./call.ts";
import type { Written } from "./write.ts";

/** Server-side apply. */
export async function applyObject(_call: Call): Promise<Written> {
  throw new Error("apply");
}
