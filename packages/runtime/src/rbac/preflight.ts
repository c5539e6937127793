import type { Client } from "@konverge/client";
import { inParallel } from "../in-parallel.ts";
import { type Access, accessText, rulesOf } from "./access.ts";

const REVIEWS_AT_A_TIME = 10;

/** The process may not do what its controllers need. */
export class MissingAccessError extends Error {
  override readonly name = "MissingAccessError";
  readonly missing: readonly Access[];

  constructor(missing: readonly Access[], who: string | undefined) {
    const lines = missing.map((access) => `  ${accessText(access)}`);
    const rules = rulesOf(missing).map((rule) => `  - ${JSON.stringify(rule)}`);
    super(
      `${who ?? "this user"} is not allowed to:\n${lines.join("\n")}\nRules that are missing in its role:\n${rules.join("\n")}`,
    );
    this.missing = missing;
  }
}

/**
 * Asks the server, by access reviews, whether all this is allowed, and throws a {@link MissingAccessError} that names
 * each rule that is missing. Without it a forbidden watch is only seen by its absence.
 */
export async function preflight(client: Client, accesses: readonly Access[]): Promise<void> {
  const missing: Access[] = [];
  await inParallel(accesses, REVIEWS_AT_A_TIME, async (access) => {
    const { verb, group, resource, namespace, name } = access;
    const [plural = "", subresource] = resource.split("/");
    const { allowed } = await client.canI({
      verb,
      kind: { group, plural },
      ...(subresource && { subresource }),
      ...(namespace && { namespace }),
      ...(name && { name }),
    });
    if (!allowed) missing.push(access);
  });
  if (missing.length === 0) return;
  missing.sort((a, b) => accesses.indexOf(a) - accesses.indexOf(b));
  const who = await client.whoAmI().catch(() => undefined);
  throw new MissingAccessError(missing, who?.username);
}
