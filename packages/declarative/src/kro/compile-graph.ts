/**
 * Checks a ResourceGraphDefinition and compiles it, before anything of it is applied.
 *
 * Flow: names → kinds and their schemas → expressions with the types that these give → dependencies and their order → the
 * CustomResourceDefinition of the instances. All mistakes are reported at once, each with its path.
 */
import { fromCRD } from "@konverge/schema";
import { ExpressionEnvironment, type ExpressionVariable } from "@konverge/schema/cel";
import { type KindLookup, type KnownKind, objectSchema } from "../kinds/known-kinds.ts";
import { compileNode } from "./compile-node.ts";
import { compileStatus } from "./compile-status.ts";
import { type Graph, type GraphNode, INSTANCE, isList } from "./graph.ts";
import { GraphError, type GraphMistake } from "./graph-error.ts";
import { definitionOf } from "./instance-definition.ts";
import type { GraphResource, ResourceGraphDefinition } from "./resource-graph-definition.ts";
import { simpleSchema } from "./simple-schema.ts";
import { inOrder } from "./topological-order.ts";

/** A graph, from its definition and the kinds that are there. Throws a {@link GraphError} with everything that is wrong. */
export function compileGraph(definition: ResourceGraphDefinition, kinds: KindLookup): Graph {
  const { schema, resources = [] } = definition.spec;
  const mistakes: GraphMistake[] = [];
  checkNames(resources, mistakes);
  const spec = simpleSchema(schema.spec ?? {}, schema.types ?? {}, "spec.schema.spec", mistakes);
  const known = resources.map((resource, i) => kindOf(resource, i, kinds, mistakes));
  // Without names and kinds, every expression would be wrong as well.
  if (mistakes.length > 0) throw new GraphError(mistakes);
  const variables: Record<string, ExpressionVariable> = {
    [INSTANCE]: { schema: objectSchema({ type: "object", properties: { spec } }) },
  };
  resources.forEach((resource, i) => {
    variables[resource.id] = { schema: known[i]!.schema, isList: isList({ type: typeOf(resource) }) };
  });
  const environment = new ExpressionEnvironment(variables);
  const nodes = resources.map((resource, i) => {
    const scope = { environment, mistakes, path: `spec.resources[${i}]`, isNamespaced: schema.scope !== "Cluster" };
    return compileNode(resource, typeOf(resource), known[i]!, scope);
  });
  const ordered = inOrder(nodes, mistakes);
  const status = compileStatus(schema.status ?? {}, environment, mistakes);
  if (mistakes.length > 0) throw new GraphError(mistakes);
  const crd = definitionOf(definition, spec, status.schema);
  return {
    name: definition.metadata.name!,
    nodes: ordered,
    definition: crd,
    kind: fromCRD(crd),
    environment,
    status: schema.status ?? {},
    statusTexts: status.texts,
    revision: [definition.metadata.uid, definition.metadata.generation, ...known.map((one) => one!.revision)].join(" "),
  };
}

const RESERVED = new Set(
  (
    "apiVersion context dependency dependencies each externalRef externalReference externalRefs externalReferences graph " +
    "instance item items kind kro metadata namespace object resource resourcegraphdefinition resourceGraphDefinition " +
    "resources root runtime schema self serviceAccountName spec status this variables vars version true false null in as " +
    "break const continue else for function if import let loop package return var void while"
  ).split(" "),
);

function checkNames(resources: readonly GraphResource[], mistakes: GraphMistake[]): void {
  const ids = new Set<string>();
  const check = (name: string, path: string, what: string) => {
    if (!/^[a-z][a-zA-Z0-9]*$/.test(name))
      mistakes.push({
        path,
        message: `${name} cannot be ${what}: use letters and digits, and begin with a small letter`,
      });
    else if (RESERVED.has(name)) mistakes.push({ path, message: `${name} is reserved: choose another name` });
  };
  resources.forEach(({ id, forEach = [], template, externalRef }, i) => {
    const path = `spec.resources[${i}]`;
    check(id, `${path}.id`, "an id");
    if (ids.has(id)) mistakes.push({ path: `${path}.id`, message: `another resource has the id ${id}, too` });
    ids.add(id);
    if (!template === !externalRef) mistakes.push({ path, message: "set either template or externalRef" });
    if (externalRef && forEach.length > 0)
      mistakes.push({ path, message: "forEach is for templates, not for externalRef" });
    forEach.forEach((dimension, k) => {
      const names = Object.keys(dimension);
      const place = `${path}.forEach[${k}]`;
      if (names.length !== 1) mistakes.push({ path: place, message: "must have one variable" });
      for (const name of names) {
        check(name, place, "a variable");
        if (resources.some((one) => one.id === name))
          mistakes.push({ path: place, message: `${name} is the id of a resource` });
      }
    });
  });
}

function typeOf({ externalRef, forEach = [] }: GraphResource): GraphNode["type"] {
  if (externalRef) return externalRef.metadata.selector === undefined ? "external" : "externalCollection";
  return forEach.length > 0 ? "collection" : "resource";
}

/** The kind of a resource's objects. */
function kindOf(
  { template, externalRef }: GraphResource,
  index: number,
  kinds: KindLookup,
  mistakes: GraphMistake[],
): KnownKind | undefined {
  const path = `spec.resources[${index}].${template ? "template" : "externalRef"}`;
  const { apiVersion, kind, metadata } = (template ?? externalRef ?? {}) as Record<string, unknown>;
  if (typeof apiVersion !== "string" || typeof kind !== "string" || typeof metadata !== "object" || metadata === null) {
    mistakes.push({ path, message: "needs an apiVersion, a kind and metadata, like every object" });
    return undefined;
  }
  if (apiVersion.includes("${") || kind.includes("${")) {
    mistakes.push({ path, message: "apiVersion and kind cannot be expressions: the permissions follow from them" });
    return undefined;
  }
  const found = kinds(apiVersion, kind);
  if (!found)
    mistakes.push({ path, message: `there is no kind ${kind} in ${apiVersion}: install its CustomResourceDefinition` });
  return found;
}
