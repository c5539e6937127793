import type { Client } from "@konverge/client";
import { isConflict } from "@konverge/core";
import { CustomResourceDefinition } from "@konverge/kinds";
import { onlyStored } from "../manifests/stored-only.ts";
import { type ApplyOptions, changeOf, INSTALLER, maybe } from "./apply-objects.ts";
import { isForeign } from "./foreign-definition.ts";

/** How often it is retried when another client writes at the same time. */
const TRIES = 5;

/**
 * Makes an installed kind one of which only the stored version is served; does nothing if it has no conversion webhook.
 */
export async function serveStoredOnly(client: Client, name: string, options: ApplyOptions): Promise<void> {
  for (let tries = 1; ; tries++) {
    const live = (await maybe(client, CustomResourceDefinition, name)) as CustomResourceDefinition | undefined;
    if (live?.spec.conversion?.strategy !== "Webhook" || isForeign(live)) return;
    const { resourceVersion } = live.metadata;
    // The webhook is removed, whoever set it: a strategy without one does not permit it.
    const conversion = { strategy: "None", webhook: null };
    const merge = { metadata: { resourceVersion }, spec: { conversion, versions: onlyStored(live.spec.versions) } };
    try {
      await client.patch(
        CustomResourceDefinition,
        name,
        { merge: merge as never },
        { fieldManager: INSTALLER, dryRun: options.dryRun ?? false },
      );
    } catch (error) {
      if (!isConflict(error) || tries === TRIES) throw error;
      continue;
    }
    const served = live.spec.versions.find(({ storage }) => storage)?.name;
    const older = (live.status?.storedVersions ?? []).filter((version) => version !== served);
    const caution = older.length > 0 ? `; objects written in ${older.join(", ")} are read without being converted` : "";
    const mode = options.dryRun ? " (dry run)" : "";
    options.tell(
      `customresourcedefinition.apiextensions.k8s.io/${name} serves ${served} alone${caution}${mode}`,
      changeOf(
        { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", metadata: { name } },
        "configured",
      ),
    );
    return;
  }
}
