import type { KindRef } from "./kind-ref.ts";
import { pathSegmentErrors } from "./naming-rules.ts";
import { quoted } from "./quoted.ts";
import { badRequest } from "./status-error.ts";

/**
 * The path of a collection or, with a name, of an object: `/apis/apps/v1/namespaces/default/deployments/web`. Throws for names
 * that no object can have: servers decode paths before they split them, so a slash in a name, encoded or not, or no name at
 * all, would be a request about something else.
 */
export function resourcePath(
  ref: Pick<KindRef, "group" | "version" | "plural">,
  place: { namespace?: string; name?: string; subresource?: string } = {},
): string {
  const root = ref.group === "" ? `/api/${ref.version}` : `/apis/${ref.group}/${ref.version}`;
  const namespace = place.namespace ? `/namespaces/${segment("namespace", place.namespace)}` : "";
  const name = place.name === undefined ? "" : `/${segment("name", place.name)}`;
  const subresource = place.subresource ? `/${place.subresource}` : "";
  return `${root}${namespace}/${ref.plural}${name}${subresource}`;
}

function segment(what: string, value: string): string {
  const errors = value === "" ? ["may not be empty"] : pathSegmentErrors(value);
  if (errors.length > 0) throw badRequest(`invalid resource ${what} ${quoted(value)}: ${errors.join(", ")}`);
  return encodeURIComponent(value);
}
