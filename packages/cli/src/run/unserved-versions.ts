import type { Client } from "@konverge/client";
import { CustomResourceDefinition } from "@konverge/kinds";
import type { Operator } from "@konverge/runtime";
import { maybe } from "../deploy/apply-objects.ts";

/**
 * Versions of kinds that operators would convert, and that are not served, as messages. Where nothing converts, only the stored version
 * is served, and starting an operator does not change that.
 */
export async function unservedVersions(operators: readonly Operator[], client: Client): Promise<string[]> {
  const messages: string[] = [];
  for (const { plural, group } of operators.flatMap(({ kinds }) => kinds)) {
    const name = `${plural}.${group}`;
    // Without permission to read it, nothing is known of it.
    const crd = (await maybe(client, CustomResourceDefinition, name).catch(() => undefined)) as
      | CustomResourceDefinition
      | undefined;
    const unserved = crd?.spec.versions.filter(({ served }) => !served).map((version) => version.name) ?? [];
    if (unserved.length > 0)
      messages.push(`${name} does not serve ${unserved.join(", ")}: --install serves them again`);
  }
  return messages;
}
