import type { Schema } from "@konverge/core";
import { type KubernetesFacts, kubernetesFacts, openApiSchema } from "@konverge/kinds";
import type { ServedVersion } from "../discovery/api-groups.ts";
import { API_VERSION, KIND, METADATA, METADATA_FIELDS } from "./metadata-descriptions.ts";
import { pathsOf } from "./operations.ts";
import { builtinSchemaName, customSchemaName, schemaReference } from "./schema-names.ts";
import { capital, groupId, type Paths, resourceListPaths, VERSION_INFO, VERSION_SCHEMA } from "./server-documents.ts";

type OpenApi = Record<string, unknown>;

/** The OpenAPI v3 document of one version of a group. */
export function openApiDocument(served: ServedVersion, facts: KubernetesFacts = kubernetesFacts()): object {
  const schemas = new Schemas(served, facts);
  const { group, version: own } = served;
  const root = group === "" ? `/api/${own}` : `/apis/${group}/${own}`;
  const isBuiltin = served.resources.some(({ definition: resource }) => !resource.custom);
  const id = capital(groupId(group)) + capital(own);
  const paths: Paths = isBuiltin ? resourceListPaths(root, `${groupId(group)}_${own}`, id) : {};
  for (const { definition: resource, version } of served.resources)
    Object.assign(paths, pathsOf(resource, version, facts));
  for (const { definition: resource, version } of served.resources) {
    if (resource.custom)
      schemas.addCustom(resource.group, version.version, version.kind, version.listKind, version.schema);
    else if (version.verbs.includes("list"))
      schemas.add(facts.definitionOf(resource.group, version.version, version.listKind));
  }
  schemas.addReferenced(paths);
  return documentOf(paths, schemas.all(), facts);
}

/** A document that is about no objects: the description of the server. */
export function serverDocument(paths: Paths, facts: KubernetesFacts = kubernetesFacts()): object {
  const schemas = new Schemas({ group: "", version: "v1", resources: [] }, facts);
  schemas.addReferenced(paths);
  const isVersion = "/version/" in paths;
  return documentOf(paths, isVersion ? { [builtinSchemaName(VERSION_INFO)]: VERSION_SCHEMA } : schemas.all(), facts);
}

function documentOf(paths: Paths, schemas: Record<string, OpenApi>, facts: KubernetesFacts): object {
  const [major, minor] = facts.version.split(".");
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: `${major}.${minor}` },
    paths,
    components: {
      schemas,
      securitySchemes: {
        BearerToken: {
          type: "apiKey",
          description: "Bearer Token authentication",
          name: "authorization",
          in: "header",
        },
      },
    },
  };
}

/** The schemas of a document: those asked for and all that they refer to. */
class Schemas {
  readonly #found = new Map<string, OpenApi>();
  /** Definitions by the name they are referred to with. */
  readonly #definitions = new Map<string, string>();
  readonly #served: ServedVersion;
  readonly #facts: KubernetesFacts;

  constructor(served: ServedVersion, facts: KubernetesFacts) {
    this.#served = served;
    this.#facts = facts;
  }

  all(): Record<string, OpenApi> {
    return Object.fromEntries([...this.#found].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  add(definitionName: string): void {
    const name = builtinSchemaName(definitionName);
    if (this.#found.has(name)) return;
    const fact = this.#facts.definition(definitionName);
    if (!fact) return;
    const refer = (other: string) => {
      const referred = builtinSchemaName(other);
      this.#definitions.set(referred, other);
      return referred;
    };
    const plain = openApiSchema(definitionName, fact, refer, this.#facts.elementDefaults);
    const schema = name === OBJECT_META ? described(plain) : plain;
    const kinds = this.#kindsOf(definitionName, fact.groupVersions);
    this.#found.set(name, kinds.length > 0 ? { ...schema, "x-kubernetes-group-version-kind": kinds } : schema);
    this.addReferenced(schema);
  }

  /** Adds what a part of the document refers to. */
  addReferenced(part: unknown): void {
    if (typeof part !== "object" || part === null) return;
    for (const [key, value] of Object.entries(part)) {
      if (key === "$ref" && typeof value === "string") {
        const name = value.slice("#/components/schemas/".length);
        const known = this.#definitions.get(name) ?? definitionNameOf(name, this.#facts);
        if (known) this.add(known);
      } else this.addReferenced(value);
    }
  }

  addCustom(group: string, version: string, kind: string, listKind: string, schema: Schema): void {
    const name = customSchemaName(group, version, kind);
    const published = publishedSchema(schema) as OpenApi;
    const properties = {
      ...TYPE_META,
      ...(published.properties as object),
      metadata: { description: METADATA, allOf: [schemaReference(OBJECT_META)] },
    };
    const gvk = (of: string) => [{ group, kind: of, version }];
    this.#found.set(name, { type: "object", ...published, properties, "x-kubernetes-group-version-kind": gvk(kind) });
    this.#found.set(customSchemaName(group, version, listKind), {
      type: "object",
      required: ["items"],
      properties: {
        ...TYPE_META,
        items: { type: "array", items: schemaReference(name) },
        metadata: { allOf: [schemaReference(LIST_META)] },
      },
      "x-kubernetes-group-version-kind": gvk(listKind),
    });
    this.add("meta.v1.ObjectMeta");
    this.add("meta.v1.ListMeta");
  }

  #kindsOf(definitionName: string, groupVersions: readonly string[] | undefined): object[] {
    const kind = definitionName.slice(definitionName.lastIndexOf(".") + 1);
    const { group, version, resources } = this.#served;
    if (groupVersions) {
      // What every group serves (options, events of watches) belongs to the core and to the group of the document.
      const own = groupVersions.length > 1 && group !== "" ? [{ group, kind, version }] : [];
      return [{ group: "", kind, version: groupVersions[0]! }, ...own];
    }
    const isKind = resources.some(({ version: served }) => served.kind === kind || served.listKind === kind);
    if (isKind) return [{ group, kind, version }];
    // The bodies of subresources: Scale, Eviction, TokenRequest.
    const foreign = resources
      .flatMap(({ version: served }) => [...served.subresources.values()])
      .find(
        ({ kind: of }) =>
          of.kind === kind && this.#facts.definitionOf(of.group, of.version, of.kind) === definitionName,
      );
    return foreign ? [{ group: foreign.kind.group, kind, version: foreign.kind.version }] : [];
  }
}

const OBJECT_META = builtinSchemaName("meta.v1.ObjectMeta");
const LIST_META = builtinSchemaName("meta.v1.ListMeta");
const TYPE_META = {
  apiVersion: { description: API_VERSION, type: "string" },
  kind: { description: KIND, type: "string" },
};

/** ObjectMeta with what is said about its fields. */
function described(schema: OpenApi): OpenApi {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, object>).map(([name, property]) => {
    const description = METADATA_FIELDS[name];
    return [name, description ? { description, ...property } : property];
  });
  return { ...schema, properties: Object.fromEntries(properties) };
}

/** The definition that a reference made outside of facts (DeleteOptions, Status, Scale) names. */
function definitionNameOf(name: string, facts: KubernetesFacts): string | undefined {
  const match = /^io\.k8s\.(?:apimachinery\.pkg\.apis|api)\.(.+)$/.exec(name);
  return match && facts.definition(match[1]!) ? match[1]! : undefined;
}

/** A CRD's schema as it is published: rules are the server's own business, some forms are spelled out. */
function publishedSchema(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(publishedSchema);
  if (typeof node !== "object" || node === null) return node;
  const copy: OpenApi = {};
  for (const [key, value] of Object.entries(node))
    copy[key] = key === "default" || key === "enum" || key === "example" ? value : publishedSchema(value);
  if (copy["x-kubernetes-int-or-string"] === true && copy.anyOf === undefined)
    copy.anyOf = [{ type: "integer" }, { type: "string" }];
  if (copy["x-kubernetes-embedded-resource"] === true) {
    copy.properties = {
      ...TYPE_META,
      ...(copy.properties as object),
      metadata: { allOf: [schemaReference(OBJECT_META)] },
    };
    copy.required = [...new Set(["kind", "apiVersion", ...((copy.required as string[]) ?? [])])];
  }
  return copy;
}
