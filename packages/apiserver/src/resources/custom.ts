import { type AnyObject, type Clock, parseJson, type Schema } from "@konverge/core";
import { validate } from "@konverge/schema";
import type { Store } from "../storage/store.ts";
import { type Call, contentOf } from "../verbs/call.ts";
import type { ResourceDefinition, ResourceVersion } from "./definition.ts";
import type { Registry } from "./registry.ts";

const CRDS = "apiextensions.k8s.io/customresourcedefinitions";

/** The parts of a CRD that serving it needs. */
interface CustomResourceDefinition extends AnyObject {
  spec: {
    group: string;
    scope: "Namespaced" | "Cluster";
    names: {
      plural: string;
      singular?: string;
      kind: string;
      listKind?: string;
      shortNames?: string[];
      categories?: string[];
    };
    versions: {
      name: string;
      served: boolean;
      storage: boolean;
      schema: { openAPIV3Schema: Schema };
      subresources?: { status?: object; scale?: object };
      additionalPrinterColumns?: { name: string; type: string; format?: string; priority?: number; jsonPath: string }[];
    }[];
  };
  status?: unknown;
}

/** Keeps the registry in step with the CRDs in the store. */
export class CustomResources {
  readonly #registry: Registry;
  readonly #store: Store;
  readonly #clock: Clock;

  constructor(registry: Registry, store: Store, clock: Clock) {
    this.#registry = registry;
    this.#store = store;
    this.#clock = clock;
    for (const entry of store.collection(CRDS).scan("")) this.#serve(parseJson(entry.text) as CustomResourceDefinition);
  }

  /** A write to a CRD takes effect before the writer sees its answer. */
  afterWrite(call: Call): void {
    if (call.definition.storage !== CRDS || !["create", "update", "patch", "delete"].includes(call.info.verb)) return;
    for (const entry of [...this.#store.collection(CRDS).scan("")]) {
      const crd = parseJson(entry.text) as CustomResourceDefinition;
      if (crd.status !== undefined && (crd.status as { conditions?: unknown }).conditions) continue;
      const now = new Date(this.#clock.now()).toISOString();
      const condition = (type: string, reason: string, message: string) => ({
        type,
        status: "True",
        reason,
        message,
        lastTransitionTime: now,
      });
      crd.status = {
        acceptedNames: crd.spec.names,
        storedVersions: [crd.spec.versions.find((version) => version.storage)!.name],
        conditions: [
          condition("NamesAccepted", "NoConflicts", "no conflicts found"),
          condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
        ],
      };
      this.#store.put(CRDS, entry.key, contentOf(call.definition, crd));
      this.#serve(crd);
    }
  }

  #serve(crd: CustomResourceDefinition): void {
    this.#registry.set(definitionOf(crd));
  }
}

function definitionOf({ spec }: CustomResourceDefinition): ResourceDefinition {
  const { group, names } = spec;
  const versions = new Map<string, ResourceVersion>();
  for (const version of spec.versions) {
    if (!version.served) continue;
    const subresources = Object.keys(version.subresources ?? {});
    versions.set(version.name, {
      version: version.name,
      kind: names.kind,
      listKind: names.listKind ?? `${names.kind}List`,
      verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
      schema: version.schema.openAPIV3Schema,
      subresources: new Map(
        subresources.map((name) => [
          name,
          { name, verbs: ["get", "patch", "update"], kind: { group, version: version.name, kind: names.kind } },
        ]),
      ),
      columns: (version.additionalPrinterColumns ?? []).map((column) => ({ format: "", priority: 0, ...column })),
      selectableFields: [],
    });
  }
  const stored = spec.versions.find((version) => version.storage)!;
  return {
    group,
    plural: names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    namespaced: spec.scope === "Namespaced",
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    storageVersion: stored.name,
    versions,
    strategy: {
      hasGeneration: true,
      validate: (object) => validate(stored.schema.openAPIV3Schema, object),
    },
    custom: true,
    storage: `${group}/${names.plural}`,
    convert: (objects) => objects,
  };
}
