import type { Client } from "@konverge/client";
import type { KubeObject } from "@konverge/core";
import { CustomResourceDefinition } from "@konverge/kinds";
import type { Operator } from "@konverge/runtime";
import type { AnyKind } from "@konverge/schema";
import { UsageError } from "../usage-error.ts";
import { type ApplyOptions, deleteObjects, maybe } from "./apply-objects.ts";
import { isForeign } from "./foreign-definition.ts";
import { untilDefined } from "./waiting.ts";

export interface UninstallOptions extends ApplyOptions {
  /** Delete the kinds even though there are objects of them. */
  readonly force?: boolean;
  /** Asked when there is something to lose. Without it the answer is no. */
  readonly confirm?: (loss: string) => Promise<boolean>;
  /** Milliseconds to wait until all is gone. Default: a minute. */
  readonly timeout?: number;
}

/**
 * Removes the kinds of operators, and with them all their objects: not without being told to. Those that another operator has
 * brought stay.
 */
export async function uninstall(operators: readonly Operator[], client: Client, options: UninstallOptions) {
  const installed: AnyKind[] = [];
  for (const kind of operators.flatMap(({ kinds }) => kinds)) {
    const known = (await maybe(client, CustomResourceDefinition, crdName(kind))) as
      | CustomResourceDefinition
      | undefined;
    if (!known) continue;
    if (!isForeign(known)) installed.push(kind);
    else
      options.tell(
        `customresourcedefinition.apiextensions.k8s.io/${crdName(kind)} kept: another operator installed it`,
      );
  }
  const loss = await lossOf(client, installed);
  if (loss !== "") {
    options.tell(`These objects and everything they own are deleted with their kinds: \n${loss}`);
    const agreed = options.force || options.dryRun || (await options.confirm?.(loss)) === true;
    if (!agreed) throw new UsageError("nothing was removed: delete these objects first, or use --force");
  }
  const crds = installed.map((kind) => ({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: crdName(kind) },
  }));
  await deleteObjects(client, crds, options);
  if (!options.dryRun) await gone(client, installed, options.timeout ?? 60_000);
}

const crdName = ({ plural, group }: AnyKind) => `${plural}.${group}`;

async function lossOf(client: Client, kinds: readonly AnyKind[]): Promise<string> {
  const lines: string[] = [];
  for (const kind of kinds) {
    const names: string[] = [];
    for await (const { metadata } of client.each(kind)) names.push(nameOf(metadata));
    if (names.length === 0) continue;
    const some = names.slice(0, 5).join(", ");
    const more = names.length > 5 ? ` and ${names.length - 5} more` : "";
    lines.push(`  ${kind.kind}: ${names.length} (${some}${more})`);
  }
  return lines.join("\n");
}

const nameOf = ({ name, namespace }: KubeObject["metadata"]) => (namespace ? `${namespace}/${name}` : name);

/** A finalizer blocks the deletion of an object until its operator has cleaned up: without the operator, forever. */
async function gone(client: Client, kinds: readonly AnyKind[], timeout: number): Promise<void> {
  for (const kind of kinds) {
    const left = () => maybe(client, CustomResourceDefinition, crdName(kind));
    if (await untilDefined(client.clock, timeout, async () => ((await left()) ? undefined : true))) continue;
    const held: string[] = [];
    for await (const { metadata } of client.each(kind)) {
      if (metadata.finalizers?.length) held.push(`${nameOf(metadata)} (${metadata.finalizers.join(", ")})`);
    }
    throw new Error(
      `${crdName(kind)} is still there after ${timeout / 1000} s: finalizers block ${held.join(", ") || "its objects"}\n` +
        "Is the operator running? It removes them after its cleanup; without it, remove them with kubectl patch.",
    );
  }
}
