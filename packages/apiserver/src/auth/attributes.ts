import {
  ApiError,
  exactFieldValue,
  type FieldRequirement,
  forbidden,
  parseFieldSelector,
  pathSegmentErrors,
  quoted,
} from "@konverge/core";
import type { RequestInfo } from "../http/request-info.ts";
import type { User } from "./user.ts";

/** A request as authorization sees it: an action on a resource, or on a non-resource path. */
export interface Attributes {
  readonly isResource: boolean;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** Of requests that are not about resources. */
  readonly path: string;
  /** What a list, watch or deletion of a collection is limited to, where that can be read. */
  readonly fields?: readonly FieldRequirement[];
}

/** The attributes of a request. Audit, impersonation and authorization all ask for them: a long selector is read once. */
export function attributesOf(info: RequestInfo): Attributes {
  let attributes = known.get(info);
  if (!attributes) {
    attributes = readAttributes(info);
    known.set(info, attributes);
  }
  return attributes;
}

const known = new WeakMap<RequestInfo, Attributes>();

function readAttributes(info: RequestInfo): Attributes {
  const { isResource, verb, group, resource, subresource, namespace } = info;
  if (!isResource) return pathAttributes(verb, info.path);
  const fields = ofCollections.has(verb) ? selectedFields(info) : undefined;
  const name = info.name || (verb === "deletecollection" ? "" : selectedName(fields));
  return { isResource, verb, group, resource, subresource, namespace, name, path: "", ...(fields && { fields }) };
}

/** An action on a resource; what is left out is empty. */
export function resourceAttributes(
  verb: string,
  rest: Partial<Omit<Attributes, "isResource" | "verb" | "path">>,
): Attributes {
  return {
    isResource: true,
    verb,
    group: "",
    resource: "",
    subresource: "",
    namespace: "",
    name: "",
    path: "",
    ...rest,
  };
}

/** An action on a path that is no resource. */
export function pathAttributes(verb: string, path: string): Attributes {
  return { isResource: false, verb, group: "", resource: "", subresource: "", namespace: "", name: "", path };
}

const ofCollections: ReadonlySet<string> = new Set(["list", "watch", "deletecollection"]);

function selectedFields({ query }: RequestInfo): FieldRequirement[] | undefined {
  const selector = query.get("fieldSelector");
  if (!selector) return undefined;
  try {
    return parseFieldSelector(selector);
  } catch {
    // The verb will refuse the selector, in its own words.
    return undefined;
  }
}

/** A list or watch of one object by its name is authorized by that name. */
function selectedName(fields: readonly FieldRequirement[] | undefined): string {
  const name = exactFieldValue(fields ?? [], "metadata.name") ?? "";
  return pathSegmentErrors(name).length === 0 ? name : "";
}

/** The refusal, in the words that every Kubernetes user knows. */
export function forbiddenError(user: User, attributes: Attributes, reason = ""): ApiError {
  // Nothing in it may look like HTML to a browser.
  const text = whatIsRefused(user, attributes).replace(/[&<>]/g, (character) => HTML_ENTITIES[character]!);
  const why = reason === "" ? text : `${text}: ${reason}`;
  const { group, resource, name } = attributes;
  if (attributes.isResource) return forbidden({ group, plural: resource }, name, why);
  return new ApiError({ code: 403, reason: "Forbidden", message: `forbidden: ${why}`, details: {} });
}

const HTML_ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

function whatIsRefused(user: User, attributes: Attributes): string {
  const { verb, group, resource, subresource, namespace, path } = attributes;
  if (!attributes.isResource) return `User ${quoted(user.name)} cannot ${verb} path ${quoted(path)}`;
  const combined = subresource === "" ? resource : `${resource}/${subresource}`;
  const scope = namespace === "" ? "at the cluster scope" : `in the namespace ${quoted(namespace)}`;
  return `User ${quoted(user.name)} cannot ${verb} resource ${quoted(combined)} in API group ${quoted(group)} ${scope}`;
}
