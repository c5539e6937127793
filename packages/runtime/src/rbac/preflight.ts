import type { Client } from "@konverge/client";
import { inParallel } from "../in-parallel.ts";
import { type Permission, permissionText, policyRules } from "./access.ts";

const REVIEWS_AT_A_TIME = 10;

/** The process lacks permissions that its controllers need. */
export class MissingPermissionError extends Error {
  override readonly name = "MissingPermissionError";
  readonly missing: readonly Permission[];

  constructor(missing: readonly Permission[], who: string | undefined) {
    const lines = missing.map((access) => `  ${permissionText(access)}`);
    const rules = policyRules(missing).map((rule) => `  - ${JSON.stringify(rule)}`);
    super(
      `${who ?? "this user"} is not allowed to:\n${lines.join("\n")}\nRules that are missing in its role:\n${rules.join("\n")}`,
    );
    this.missing = missing;
  }
}

/**
 * Checks with access reviews that all permissions are granted, and throws a {@link MissingPermissionError} that names
 * each missing rule.
 */
export async function checkPermissions(client: Client, accesses: readonly Permission[]): Promise<void> {
  const missing: Permission[] = [];
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
  throw new MissingPermissionError(missing, who?.username);
}
