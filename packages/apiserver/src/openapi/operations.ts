import { type KubernetesFacts, kubernetesFacts } from "@konverge/kinds";
import type { ResourceDefinition, ResourceVersion, SubresourceDefinition } from "../resources/definition.ts";
import { connectionPaths } from "./connections.ts";
import * as parameters from "./parameters.ts";
import { builtinSchemaName, customSchemaName, schemaReference } from "./schema-names.ts";
import { capital, groupId, type Paths } from "./server-documents.ts";

const meta = (kind: string) => builtinSchemaName(`meta.v1.${kind}`);

/** The paths of one resource in one version, with all operations on it. */
export function pathsOf(
  definition: ResourceDefinition,
  version: ResourceVersion,
  facts: KubernetesFacts = kubernetesFacts(),
): Paths {
  const paths = new ResourcePaths(definition, version, facts).all();
  for (const path of Object.values(paths)) shareParameters(path);
  return paths;
}

/** What all operations of a path take is said of the path: where there is but one operation, all of it. */
function shareParameters(path: Record<string, unknown>): void {
  const [only, ...others] = Object.keys(path).filter((key) => key !== "parameters");
  if (only === undefined || others.length > 0) return;
  const { parameters: given = [], ...operation } = path[only] as { parameters?: parameters.Parameter[] };
  path[only] = operation;
  path["parameters"] = parameters.sorted(...(path["parameters"] as parameters.Parameter[]), ...given);
}

class ResourcePaths {
  readonly #definition: ResourceDefinition;
  readonly #version: ResourceVersion;
  readonly #facts: KubernetesFacts;
  readonly #root: string;

  constructor(definition: ResourceDefinition, version: ResourceVersion, facts: KubernetesFacts) {
    this.#facts = facts;
    this.#definition = definition;
    this.#version = version;
    this.#root = definition.group === "" ? `/api/${version.version}` : `/apis/${definition.group}/${version.version}`;
  }

  all(): Paths {
    const { plural, namespaced } = this.#definition;
    const place = namespaced ? "/namespaces/{namespace}" : "";
    const scope = namespaced ? [parameters.NAMESPACE] : [];
    const paths: Paths = {};
    if (namespaced && this.#can("list")) {
      paths[`${this.#root}/${plural}`] = {
        get: this.#list("ForAllNamespaces", []),
        parameters: parameters.sorted(...parameters.LIST, parameters.PRETTY),
      };
    }
    paths[`${this.#root}${place}/${plural}`] = {
      ...(this.#can("list") && { get: this.#list("", parameters.LIST) }),
      ...(this.#can("create") && {
        post: this.#write("create", "post", "", this.#kindName(), parameters.WRITE, [200, 201, 202]),
      }),
      ...(this.#can("deletecollection") && {
        delete: this.#deletion("Collection", "deletecollection", parameters.DELETE_COLLECTION, [200]),
      }),
      parameters: parameters.sorted(...scope, parameters.PRETTY),
    };
    if (this.#can("get")) {
      paths[`${this.#root}${place}/${plural}/{name}`] = {
        ...this.#object("", this.#version.verbs, this.#kindName(), this.#version.kind),
        parameters: parameters.sorted(parameters.NAME, ...scope, parameters.PRETTY),
      };
    }
    if (!this.#definition.custom && this.#can("watch")) Object.assign(paths, this.#watches(place, scope));
    for (const subresource of this.#version.subresources.values()) {
      const { kind } = subresource.kind;
      if (/(Proxy|Exec|Attach|PortForward)Options$/.test(kind)) {
        Object.assign(paths, this.#connection(subresource.name, kind, place, scope));
        continue;
      }
      paths[`${this.#root}${place}/${plural}/{name}/${subresource.name}`] = {
        ...this.#subresource(subresource),
        parameters: parameters.sorted(parameters.NAME, ...scope, parameters.PRETTY),
      };
    }
    return paths;
  }

  /** The paths that watch without a parameter: deprecated, and still there. */
  #watches(place: string, scope: readonly parameters.Parameter[]): Paths {
    const { plural, namespaced } = this.#definition;
    const { kind } = this.#version;
    const watch = (suffix: string, given: readonly parameters.Parameter[], forAll = false) => ({
      get: this.#operation(
        "watch",
        suffix === "" ? "watch" : "watchlist",
        suffix,
        { responses: this.#answers(meta("WatchEvent"), [200], STREAMS) },
        kind,
        forAll,
      ),
      parameters: parameters.sorted(...parameters.LIST, parameters.PRETTY, ...given),
    });
    return {
      ...(namespaced && { [`${this.#root}/watch/${plural}`]: watch("ListForAllNamespaces", [], true) }),
      [`${this.#root}/watch${place}/${plural}`]: watch("List", scope),
      ...(this.#can("get") && {
        [`${this.#root}/watch${place}/${plural}/{name}`]: watch("", [...scope, parameters.NAME]),
      }),
    };
  }

  #connection(name: string, options: string, place: string, scope: readonly parameters.Parameter[]): Paths {
    const { group, plural, namespaced } = this.#definition;
    const { version, kind } = this.#version;
    return connectionPaths({
      name,
      options,
      path: `${this.#root}${place}/${plural}/{name}/${name}`,
      id: [
        `connect${capital(groupId(group))}${capital(version)}`,
        `${namespaced ? "Namespaced" : ""}${kind}${capital(name)}`,
      ],
      tag: `${groupId(group)}_${version}`,
      scope: [...scope, parameters.NAME],
    });
  }

  #can(verb: string): boolean {
    return this.#version.verbs.includes(verb);
  }

  #kindName(kind = this.#version.kind): string {
    const { group, custom } = this.#definition;
    const { version } = this.#version;
    return custom
      ? customSchemaName(group, version, kind)
      : builtinSchemaName(this.#facts.definitionOf(group, version, kind));
  }

  #object(suffix: string, verbs: readonly string[], schema: string, kind: string): Record<string, unknown> {
    return {
      ...(verbs.includes("get") && {
        get: this.#operation("read", "get", suffix, { responses: this.#answers(schema, [200]) }, kind),
      }),
      ...(verbs.includes("update") && {
        put: this.#write("replace", "put", suffix, schema, parameters.WRITE, [200, 201], kind),
      }),
      ...(verbs.includes("delete") &&
        suffix === "" && { delete: this.#deletion("", "delete", parameters.DELETE, [200, 202]) }),
      ...(verbs.includes("patch") && { patch: this.#patch(suffix, schema, kind) }),
    };
  }

  #subresource({ name, kind, verbs }: SubresourceDefinition): Record<string, unknown> {
    const suffix = name.replace(/(^|-)([a-z])/g, (_all, _dash, letter: string) => letter.toUpperCase());
    const isOwn = kind.kind === this.#version.kind && kind.group === this.#definition.group;
    const schema = isOwn
      ? this.#kindName()
      : builtinSchemaName(this.#facts.definitionOf(kind.group, kind.version, kind.kind));
    return {
      ...this.#object(suffix, verbs, schema, kind.kind),
      ...(verbs.includes("create") && {
        post: this.#write("create", "post", suffix, schema, parameters.WRITE, [200, 201, 202], kind.kind),
      }),
    };
  }

  #list(suffix: string, given: readonly parameters.Parameter[]): object {
    const schema = this.#kindName(this.#version.listKind);
    const forAll = suffix === "ForAllNamespaces";
    const responses = this.#answers(schema, [200], this.#definition.custom ? [] : STREAMS);
    return this.#operation(
      "list",
      "list",
      suffix,
      { ...(given.length > 0 && { parameters: given }), responses },
      this.#version.kind,
      forAll,
    );
  }

  #write(
    verb: string,
    action: string,
    suffix: string,
    schema: string,
    given: readonly parameters.Parameter[],
    codes: number[],
    kind?: string,
  ): object {
    const types = this.#definition.custom ? ["application/json", "application/yaml"] : ["*/*"];
    const requestBody = { content: contentOf(types, schema), required: true };
    return this.#operation(
      verb,
      action,
      suffix,
      { parameters: given, requestBody, responses: this.#answers(schema, codes) },
      kind,
    );
  }

  #patch(suffix: string, schema: string, kind: string): object {
    const types = ["application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json"];
    if (!this.#definition.custom) types.push("application/strategic-merge-patch+json");
    const requestBody = { content: contentOf(types, meta("Patch")), required: true };
    const responses = this.#answers(schema, this.#definition.custom ? [200] : [200, 201]);
    return this.#operation("patch", "patch", suffix, { parameters: parameters.PATCH, requestBody, responses }, kind);
  }

  #deletion(infix: string, action: string, given: readonly parameters.Parameter[], codes: number[]): object {
    const types = this.#definition.custom ? ["application/json", "application/yaml"] : ["*/*"];
    const requestBody = { content: contentOf(types, meta("DeleteOptions")) };
    const isReturned = infix === "" && this.#definition.strategy.returnsDeleted;
    const responses = this.#answers(isReturned ? this.#kindName() : meta("Status"), codes);
    const rest = { parameters: given, requestBody, responses };
    return this.#operation("delete", action, "", rest, this.#version.kind, false, infix);
  }

  #operation(
    verb: string,
    action: string,
    suffix: string,
    rest: object,
    kind = this.#version.kind,
    forAll = false,
    infix = "",
  ): object {
    const { group, namespaced } = this.#definition;
    const { version } = this.#version;
    const scope = namespaced && !forAll ? "Namespaced" : "";
    const id = `${verb}${capital(groupId(group))}${capital(version)}${infix}${scope}${this.#version.kind}${suffix}`;
    const gvk = {
      group: kind === this.#version.kind ? group : this.#foreignGroup(suffix, "group"),
      version: kind === this.#version.kind ? version : this.#foreignGroup(suffix, "version"),
      kind,
    };
    return {
      tags: [`${groupId(group)}_${version}`],
      operationId: id,
      ...rest,
      "x-kubernetes-action": action,
      "x-kubernetes-group-version-kind": gvk,
    };
  }

  #foreignGroup(suffix: string, part: "group" | "version"): string {
    const subresource = [...this.#version.subresources.values()].find(
      ({ name }) => name.toLowerCase() === suffix.toLowerCase(),
    );
    return subresource?.kind[part] ?? "";
  }

  #answers(schema: string, codes: readonly number[], streams: readonly string[] = []): object {
    const types = this.#definition.custom
      ? ["application/json", "application/yaml"]
      : ["application/json", "application/vnd.kubernetes.protobuf", "application/yaml", ...streams].sort();
    const content = contentOf(types, schema);
    return {
      ...Object.fromEntries(codes.map((code) => [String(code), { description: describe(code), content }])),
      "401": { description: "Unauthorized" },
    };
  }
}

const STREAMS = ["application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"];
const DESCRIPTIONS: Record<number, string> = { 200: "OK", 201: "Created", 202: "Accepted" };

function describe(code: number): string {
  return DESCRIPTIONS[code] ?? "";
}

function contentOf(types: readonly string[], schema: string): object {
  return Object.fromEntries(types.map((type) => [type, { schema: schemaReference(schema) }]));
}
