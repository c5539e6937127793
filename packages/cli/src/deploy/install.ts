import type { Client } from "@konverge/client";
import { findCondition, type KubeObject } from "@konverge/core";
import { CustomResourceDefinition, Service } from "@konverge/kinds";
import type { Operator } from "@konverge/runtime";
import { DEFAULT_IMAGE } from "../manifests/defaults.ts";
import { type OperatorObjects, operatorObjects } from "../manifests/operator-objects.ts";
import { storedOnly } from "../manifests/stored-only.ts";
import type { SettingSources } from "../operators/settings.ts";
import { type ApplyOptions, applyObjects, changeOf, maybe } from "./apply-objects.ts";
import { isForeign } from "./foreign-definition.ts";
import { untilDefined } from "./waiting.ts";
import { keepingAddress } from "./webhook-address.ts";

export interface InstallOptions extends ApplyOptions {
  /** Where the operators are or will be: kinds of several versions are converted there. */
  readonly namespace: string;
  /** The conversion webhook is served. Default: if the operator's Service exists, or it was registered before. */
  readonly converted?: boolean;
  /** Convert at the operator's Service even if a running process has registered another address. */
  readonly byService?: boolean;
  /** Also replace definitions that another operator has brought. */
  readonly force?: boolean;
  /** The settings that the operators run with. Default: those that they define. */
  readonly settings?: SettingSources;
  /** Milliseconds to wait. Default: a minute. */
  readonly timeout?: number;
}

/**
 * Installs the kinds of operators, and waits until they are served. Doing it again changes nothing. Without a converter,
 * only the stored version is served: kubectl would ask for the newest one, and get an error in place of objects.
 *
 * A CRD that another operator installed is not changed, and that is reported.
 */
export async function install(operators: readonly Operator[], client: Client, options: InstallOptions): Promise<void> {
  const installations = operators.map((operator) => operatorObjects(operator, { ...options, image: DEFAULT_IMAGE }));
  await installDefinitions(installations, client, options);
}

/** The same for operators whose code is in another process. */
export async function installDefinitions(
  installations: readonly Pick<OperatorObjects, "name" | "crds">[],
  client: Client,
  options: InstallOptions,
): Promise<void> {
  const { namespace, timeout = 60_000, dryRun } = options;
  const crds: CustomResourceDefinition[] = [];
  const withheld: string[] = [];
  for (const { name, crds: definitions } of installations) {
    for (const crd of definitions) {
      const stored = await definition(client, crd.metadata.name);
      if (!options.force && stored && isForeign(stored)) {
        const what = `customresourcedefinition.apiextensions.k8s.io/${crd.metadata.name}`;
        options.tell(
          `${what} unchanged: another operator installed it; --force replaces it`,
          changeOf(crd as unknown as KubeObject, "unchanged"),
        );
        continue;
      }
      const isConverted =
        !crd.spec.conversion || (options.converted ?? (await isExpected(client, stored, `${namespace}/${name}`)));
      if (!isConverted) {
        crds.push(storedOnly(crd));
        withheld.push(
          `${crd.metadata.name} serves ${storedVersion(crd)} alone until its operator converts the other versions: deploy it, or run it with --install --webhooks on`,
        );
      } else crds.push(options.byService ? crd : keepingAddress(crd, stored));
    }
  }
  await applyObjects(client, crds as unknown as KubeObject[], options);
  for (const text of withheld) options.tell(text);
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

const storedVersion = ({ spec }: CustomResourceDefinition) => spec.versions.find(({ storage }) => storage)?.name;

async function definition(client: Client, name: string): Promise<CustomResourceDefinition | undefined> {
  return (await maybe(client, CustomResourceDefinition, name)) as CustomResourceDefinition | undefined;
}

async function isExpected(client: Client, stored: CustomResourceDefinition | undefined, service: string) {
  return stored?.spec.conversion?.strategy === "Webhook" || (await maybe(client, Service, service)) !== undefined;
}
