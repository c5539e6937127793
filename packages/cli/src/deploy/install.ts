import type { Client } from "@konverge/client";
import { findCondition, type KubeObject } from "@konverge/core";
import { CustomResourceDefinition } from "@konverge/kinds";
import type { Operator } from "@konverge/runtime";
import { DEFAULT_IMAGE } from "../manifests/defaults.ts";
import { operatorObjects } from "../manifests/operator-objects.ts";
import { type ApplyOptions, applyObjects } from "./apply-objects.ts";
import { untilDefined } from "./waiting.ts";

export interface InstallOptions extends ApplyOptions {
  /** Where the operators are or will be: kinds of several versions are converted there. */
  readonly namespace: string;
  /** Milliseconds to wait. Default: a minute. */
  readonly timeout?: number;
}

/** Installs the kinds of operators, and waits until they are served. Doing it again changes nothing. */
export async function install(operators: readonly Operator[], client: Client, options: InstallOptions): Promise<void> {
  const { namespace, timeout = 60_000, dryRun } = options;
  const crds = operators.flatMap((one) => operatorObjects(one, { namespace, image: DEFAULT_IMAGE }).crds);
  await applyObjects(client, crds as unknown as KubeObject[], options);
  if (dryRun) return;
  for (const { metadata } of crds) {
    const { name } = metadata;
    let why = "no condition yet";
    const served = await untilDefined(client.clock, timeout, async () => {
      const { conditions = [] } = (await client.get(CustomResourceDefinition, name)).status ?? {};
      const established = findCondition(conditions as never, "Established");
      const accepted = findCondition(conditions as never, "NamesAccepted");
      why = accepted?.status === "False" ? accepted.message : (established?.message ?? why);
      return established?.status === "True" ? true : undefined;
    });
    if (!served) throw new Error(`${name} is not served after ${timeout / 1000} s: ${why}`);
  }
}
