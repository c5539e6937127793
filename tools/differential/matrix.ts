import { readFileSync } from "node:fs";
import { apiVersionOf } from "@konverge/core";
import { type BuiltinResource, builtinResources } from "@konverge/kinds";
import { parse } from "yaml";
import type { RequestStep, Script, Step } from "./script.ts";

const MERGE_PATCH = { "content-type": "application/merge-patch+json" };
const JSON_PATCH = { "content-type": "application/json-patch+json" };
const APPLY_PATCH = { "content-type": "application/apply-patch+yaml" };

/**
 * The same conversation about every built-in resource: each verb, and each way in which it commonly ends. It is made from
 * the facts and the least body of each kind (matrix.yaml), so a new resource needs one line.
 */
export function matrixScripts(): Script[] {
  const file = new URL("./matrix.yaml", import.meta.url);
  const bodies = parse(readFileSync(file, "utf8")) as Record<string, Record<string, unknown>>;
  return Object.entries(bodies).map(([key, { $name: name, $anyName: anyName, $events: events, ...body }]) => {
    const steps = conversation(resourceOf(key), body, {
      name: name as string | undefined,
      anyName: anyName === true,
      events: (events as number | undefined) ?? 4,
    });
    return { name: `matrix: ${key}`, file: file.pathname, steps };
  });
}

/** `deployments.apps`, or `horizontalpodautoscalers.v1.autoscaling` where the version matters. */
function resourceOf(key: string): BuiltinResource {
  const [plural, ...rest] = key.split(".");
  const versioned = /^v[0-9]/.test(rest[0] ?? "");
  const group = rest.slice(versioned ? 1 : 0).join(".");
  const found = builtinResources().find(
    (one) => one.plural === plural && one.group === group && (!versioned || one.version === rest[0]),
  );
  if (!found) throw new Error(`matrix.yaml: there is no built-in resource ${key}`);
  return found;
}

function conversation(
  resource: BuiltinResource,
  body: object,
  { name: givenName, anyName, events }: { name: string | undefined; anyName: boolean; events: number },
): Step[] {
  const { group, version, kind, plural, namespaced, verbs } = resource;
  const apiVersion = apiVersionOf(resource);
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const all = namespaced ? `${root}/namespaces/$ns/${plural}` : `${root}/${plural}`;
  const name = givenName ?? (namespaced ? "a" : "$ns-a");
  const one = `${all}/${name}`;
  const selector = "labelSelector=matrix%3D$ns";
  const object = (metadata: object = {}, more: object = {}) => ({
    apiVersion,
    kind,
    metadata: { name, labels: { matrix: "$ns", n: "1" }, ...metadata },
    ...body,
    ...more,
  });
  const request = (text: string, rest: Omit<RequestStep, "request"> = {}): Step => ({ request: text, ...rest });
  const steps: Step[] = [
    request(`POST ${all}`, { body: object(), save: { uid: ".metadata.uid", rv: ".metadata.resourceVersion" } }),
    { watch: `${all}?${selector}&resourceVersion=$rv`, as: "changes" },
    request(`POST ${all}`, { body: object() }),
    ...(anyName ? [] : [request(`POST ${all}`, { body: object({ name: "not/valid" }) })]),
    request(`POST ${all}`, { body: "{" }),
    request(`POST ${all}`, { body: "x", headers: { "content-type": "text/plain" } }),
    request(`POST ${all}?fieldValidation=Strict`, { body: object({}, { unknownField: 1 }) }),
    request(`POST ${all}?dryRun=Some`, { body: object() }),
    request(`GET ${one}`),
    request(`GET ${all}/missing`),
    request(`HEAD ${one}`),
    request(`GET ${all}?${selector}`),
    request(`GET ${all}?labelSelector=a+b`),
    request(`GET ${all}?fieldSelector=no.such%3Dfield`),
    request(`GET ${all}?${selector}`, { headers: { accept: "text/html" } }),
    request(`GET ${all}?${selector}&resourceVersionMatch=Exact`),
    request(`PUT ${one}`, { body: object({ resourceVersion: "1" }) }),
    request(`PUT ${one}`, { body: object({ name: "other" }) }),
    request(`PUT ${one}?dryRun=Some`, { body: object() }),
    request(`PUT ${one}`, { body: object({ resourceVersion: "$rv", labels: { matrix: "$ns", n: "2" } }) }),
    request(`PUT ${one}`, { body: object({ uid: "11111111-1111-4111-8111-111111111111" }) }),
    request(`PUT ${all}`, { body: object() }),
    request(`PATCH ${one}`, { headers: MERGE_PATCH, body: { metadata: { labels: { n: "3" } } } }),
    request(`PATCH ${all}/missing`, { headers: MERGE_PATCH, body: { metadata: { labels: { n: "3" } } } }),
    request(`PATCH ${one}`, { headers: MERGE_PATCH, body: { metadata: { resourceVersion: "1" } } }),
    request(`PATCH ${one}`, { headers: MERGE_PATCH, body: "{" }),
    request(`PATCH ${one}`, { headers: MERGE_PATCH, body: { metadata: { labels: { "bad key": "x" } } } }),
    request(`PATCH ${one}`, { headers: { "content-type": "application/json" }, body: {} }),
    request(`PATCH ${one}`, { headers: JSON_PATCH, body: [{ op: "test", path: "/kind", value: "Nothing" }] }),
    request(`PATCH ${one}`, { headers: APPLY_PATCH, body: { apiVersion, kind, metadata: { name } } }),
    request(`PATCH ${one}?fieldManager=m`, {
      headers: APPLY_PATCH,
      body: { apiVersion, kind, metadata: { name, labels: { n: "4" } } },
    }),
    request(`PATCH ${one}?fieldManager=m&force=true`, {
      headers: APPLY_PATCH,
      body: { apiVersion, kind, metadata: { name, labels: { n: "4" } } },
    }),
    ...statusSteps(resource, one, all, request),
    ...forbiddenSteps(one, all, object(), request, verbs),
    request(`DELETE ${all}/missing`),
    request(`DELETE ${one}`, { body: { preconditions: { uid: "11111111-1111-4111-8111-111111111111" } } }),
    request(`DELETE ${one}?propagationPolicy=Sideways`),
    request(`DELETE ${one}?dryRun=All`),
    request(`DELETE ${one}`),
    { events: "changes", count: events },
  ];
  if (verbs.includes("deletecollection")) {
    steps.push(
      ...(givenName ? [] : [request(`POST ${all}`, { body: object({ name: `${name}-b` }) })]),
      request(`DELETE ${all}?labelSelector=a+b`),
      request(`DELETE ${all}?${selector}&dryRun=Some`),
      ...(givenName ? [] : [request(`DELETE ${all}?${selector}`), request(`GET ${all}?${selector}`)]),
    );
  }
  return steps;
}

type MakeStep = (text: string, rest?: Omit<RequestStep, "request">) => Step;

function statusSteps({ subresources }: BuiltinResource, one: string, all: string, request: MakeStep): Step[] {
  const has = (name: string) => subresources.some((subresource) => subresource.name === name);
  return ["status", "scale"]
    .filter(has)
    .flatMap((name) => [
      request(`GET ${one}/${name}`),
      request(`GET ${all}/missing/${name}`),
      request(`PATCH ${one}/${name}`, { headers: MERGE_PATCH, body: {} }),
      request(`PATCH ${one}/${name}`, { headers: MERGE_PATCH, body: { metadata: { resourceVersion: "1" } } }),
      request(`PATCH ${one}/${name}`, { headers: MERGE_PATCH, body: "{" }),
      request(`PATCH ${all}/missing/${name}`, { headers: MERGE_PATCH, body: {} }),
      request(`PUT ${one}/${name}`, { body: "{" }),
      request(`DELETE ${one}/${name}`),
      request(`GET ${one}/${name}`, { as: "nobody" }),
      request(`PATCH ${one}/${name}`, { as: "nobody", headers: MERGE_PATCH, body: {} }),
    ]);
}

/** The answers to a user without any role. */
function forbiddenSteps(one: string, all: string, body: object, request: MakeStep, verbs: readonly string[]): Step[] {
  const as = "nobody";
  return [
    request(`GET ${one}`, { as }),
    request(`GET ${all}`, { as }),
    request(`GET ${all}?watch=true`, { as }),
    request(`POST ${all}`, { as, body }),
    request(`PUT ${one}`, { as, body }),
    request(`PATCH ${one}`, { as, headers: MERGE_PATCH, body: {} }),
    request(`DELETE ${one}`, { as }),
    ...(verbs.includes("deletecollection") ? [request(`DELETE ${all}`, { as })] : []),
  ];
}
