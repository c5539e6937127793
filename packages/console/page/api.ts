import type { ControlRequest, ObjectName } from "../src/protocol.ts";

/** A refusal of the API server, in its words. */
export class RequestError extends Error {
  readonly code: number;
  readonly causes: readonly { field?: string; message?: string }[];

  constructor(code: number, message: string, causes: readonly { field?: string; message?: string }[] = []) {
    super(message);
    this.code = code;
    this.causes = causes;
  }
}

export interface JsonObject {
  [field: string]: unknown;
}

/** A request to the API server, in the name of the console's user. */
export async function request(
  method: string,
  path: string,
  body?: unknown,
  contentType = "application/json",
): Promise<JsonObject> {
  const response = await fetch(`/k8s${path}`, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { "content-type": contentType } }),
  });
  const text = await response.text();
  let value: JsonObject;
  try {
    value = JSON.parse(text) as JsonObject;
  } catch {
    value = { message: text };
  }
  if (response.ok) return value;
  const details = value["details"] as { causes?: { field?: string; message?: string }[] } | undefined;
  throw new RequestError(response.status, String(value["message"] ?? response.statusText), details?.causes);
}

/** Something that is done with an embedded cluster besides its API server. */
export async function control(body: ControlRequest): Promise<void> {
  const headers = { "content-type": "application/json" };
  const response = await fetch("/console/controls", { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw await responseProblem(response);
}

/** What the console's server refuses something with. */
export async function responseProblem(response: Response): Promise<RequestError> {
  const text = await response.text();
  const { message } = text.startsWith("{") ? (JSON.parse(text) as { message: string }) : { message: text };
  return new RequestError(response.status, message);
}

export function pathOf({ group, version, plural, namespace, name }: ObjectName, subresource?: string): string {
  const place = namespace ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  const root = group ? `/apis/${group}` : "/api";
  const rest = subresource ? `/${subresource}` : "";
  return `${root}/${version}${place}/${plural}/${encodeURIComponent(name)}${rest}`;
}

/** An object as it was at a time, from the server's history; the present one from the API server. */
export async function loadObject(
  object: ObjectName,
  at: number | undefined,
  recorded: boolean,
): Promise<JsonObject | undefined> {
  if (at === undefined && !recorded) return request("GET", pathOf(object));
  const query = new URLSearchParams({ id: object.id, ...(at !== undefined && { at: String(at) }) });
  const response = await fetch(`/console/object?${query}`);
  return response.ok ? ((await response.json()) as JsonObject) : undefined;
}

const reviewed = new Map<string, Promise<boolean>>();

/** Whether the user may do something with an object, by a SelfSubjectAccessReview. Answers are kept for a minute. */
export function isAllowed(object: ObjectName, verb: string, subresource?: string): Promise<boolean> {
  const attributes = {
    verb,
    group: object.group,
    version: object.version,
    resource: object.plural,
    ...(subresource && { subresource }),
    ...(object.namespace && { namespace: object.namespace }),
    name: object.name,
  };
  const key = JSON.stringify(attributes);
  const known = reviewed.get(key);
  if (known) return known;
  const review = {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectAccessReview",
    spec: { resourceAttributes: attributes },
  };
  const answer = request("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review).then(
    ({ status }) => (status as { allowed?: boolean } | undefined)?.allowed === true,
    () => false,
  );
  reviewed.set(key, answer);
  setTimeout(() => reviewed.delete(key), 60_000);
  return answer;
}

const served = new Map<string, Promise<ReadonlySet<string>>>();

/** Whether a kind has a subresource, by discovery. */
export async function hasSubresource({ group, version, plural }: ObjectName, name: string): Promise<boolean> {
  const path = group ? `/apis/${group}/${version}` : `/api/${version}`;
  let names = served.get(path);
  if (!names) {
    names = request("GET", path).then(
      ({ resources }) => new Set((resources as { name: string }[]).map((one) => one.name)),
      () => new Set<string>(),
    );
    served.set(path, names);
  }
  return (await names).has(`${plural}/${name}`);
}
