import type { ApiRequest, ApiResponse } from "@konverge/core";

/** What a write sends and the response does not have, such as `Pod spec.hostnameOverride`: the version does not store it. */
export function unstoredFields({ method, path, headers, body }: ApiRequest, response: ApiResponse): string[] {
  const isWhole = method === "POST" || method === "PUT" || /apply-patch/.test(String(headers["content-type"]));
  if (!isWhole || /\/(status|scale|token|eviction|binding)(\?|$)/.test(path)) return [];
  const [sent, stored] = [objectIn(body), objectIn(response.body)];
  if (!sent || !stored) return [];
  // Server-side apply is refused as a whole.
  const refused = /: \.?(\S+): field not declared in schema/.exec(String(stored["message"]))?.[1];
  if (response.status > 201) return refused === undefined ? [] : [`${sent["kind"]} ${refused}`];
  if (sent["kind"] !== stored["kind"]) return [];
  const found = new Set<string>();
  for (const [field, value] of Object.entries(sent)) {
    if (!["apiVersion", "kind", "metadata", "status"].includes(field)) compare(value, stored[field], field, found);
  }
  return [...found].map((field) => `${sent["kind"]} ${field}`);
}

function compare(sent: unknown, stored: unknown, at: string, found: Set<string>): void {
  if (isEmpty(sent)) return;
  if (stored === undefined || stored === null) {
    found.add(at);
    return;
  }
  if (Array.isArray(sent)) {
    // Lists that are merged with those of others are in another order.
    if (!Array.isArray(stored) || stored.length !== sent.length) return;
    for (const [i, item] of sent.entries()) compare(item, stored[i], `${at}[]`, found);
    return;
  }
  if (!isRecord(sent) || !isRecord(stored)) return;
  for (const [field, value] of Object.entries(sent)) compare(value, stored[field], `${at}.${field}`, found);
}

/** A server leaves out what means nothing. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === "" || value === 0 || value === false) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

function objectIn(body: unknown): Record<string, unknown> | undefined {
  const text = body instanceof Uint8Array ? Buffer.from(body).toString() : body;
  if (typeof text !== "string" || !text.startsWith("{")) return undefined;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    // YAML, or nothing that was meant as an object.
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
