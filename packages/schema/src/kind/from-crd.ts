import { type AnyObject, type Draft, isObject, type Schema } from "@konverge/core";
import { parseYaml } from "../yaml/parse-yaml.ts";
import type { AnyCrd, CrdObject } from "./crd-object.ts";
import { type KindVersion, kindVersion } from "./kind-version.ts";

/** A kind from a CRD: its objects have no specific TypeScript type. */
export interface CRDKind extends KindVersion<AnyObject, Draft<AnyObject>> {
  /** The versions that are served. */
  readonly versions: readonly string[];
  readonly atVersion: (name: string) => KindVersion<AnyObject, Draft<AnyObject>>;
  readonly crd: () => CrdObject;
}

/**
 * Creates a kind from a CRD that was not defined with Konverge: the object, or YAML in which it is the only CRD. Its
 * version is the stored one, if it is served, or else the first that is. `typesFromCRD` writes TypeScript types for it.
 */
export function fromCRD(source: string | AnyCrd): CRDKind {
  const crd = typeof source === "string" ? onlyCrd(source) : (source as CrdObject);
  const { group, names, scope, versions } = crd.spec;
  const members = new Map(
    versions
      .filter(({ served }) => served)
      .map((version) => {
        const scale = version.subresources?.scale;
        const facts = {
          group,
          version: version.name,
          kind: names.kind,
          plural: names.plural,
          namespaced: scope === "Namespaced",
          schema: version.schema?.openAPIV3Schema ?? ANYTHING,
          ...(scale && { scale }),
        };
        return [version.name, kindVersion<AnyObject, Draft<AnyObject>>(facts)] as const;
      }),
  );
  const stored = versions.find(({ storage, served }) => storage && served) ?? versions.find(({ served }) => served);
  if (!stored) throw new Error(`${crd.metadata.name} serves no version`);
  return {
    ...members.get(stored.name)!,
    versions: [...members.keys()],
    atVersion(name) {
      const member = members.get(name);
      if (!member) throw new Error(`${names.kind} serves no version ${name}: only ${[...members.keys()].join(", ")}`);
      return member;
    },
    crd: () => crd,
  };
}

const ANYTHING: Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

/** The CRDs in a YAML file. */
export function crdsFromYaml(yaml: string): CrdObject[] {
  return parseYaml(yaml)
    .flatMap((document) => (isObject(document) && Array.isArray(document["items"]) ? document["items"] : [document]))
    .filter(isCrd);
}

function onlyCrd(yaml: string): CrdObject {
  const crds = crdsFromYaml(yaml);
  if (crds.length === 1) return crds[0]!;
  throw new Error(
    crds.length === 0
      ? "there is no CustomResourceDefinition (apiextensions.k8s.io/v1) in the YAML"
      : `there are ${crds.length} CustomResourceDefinitions in the YAML; take them apart with crdsIn()`,
  );
}

function isCrd(value: unknown): value is CrdObject {
  return (
    isObject(value) && value["kind"] === "CustomResourceDefinition" && value["apiVersion"] === "apiextensions.k8s.io/v1"
  );
}
