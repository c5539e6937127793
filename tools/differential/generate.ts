import fc from "fast-check";
import { stringify } from "yaml";
import type { RequestStep, Script, Step } from "./script.ts";

/**
 * Random conversations: a few objects of a few kinds, written and read in every way, with versions that are right, old or
 * missing, by several managers. What a server must never do is differ from the other, whatever it is asked; fast-check
 * finds a short conversation for one that does.
 */
export function conversations(group: string): fc.Arbitrary<Script> {
  const kinds = kindsOf(group);
  const command = fc.oneof(...kinds.flatMap((kind) => commandsFor(kind)));
  return fc.array(command, { minLength: 1, maxLength: 40, size: "max" }).map((commands) => ({
    name: "generated",
    file: "generated",
    steps: [
      ...kinds.map((kind): Step => ({ watch: `${kind.path}?resourceVersion=$start`, as: kind.plural })),
      ...commands.flat(),
      ...kinds.map((kind): Step => ({ request: `GET ${kind.path}` })),
      // All of them: the marker at the end shows that the last one has arrived.
      ...kinds.flatMap((kind): Step[] => [
        { request: `POST ${kind.path}`, body: kind.object("last", {}, "x") },
        { events: kind.plural, until: "last" },
      ]),
    ],
  }));
}

/** The CRD that conversations speak about. */
export function generatedDefinition(group: string): object {
  const text = { type: "string" };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `toys.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "toys", kind: "Toy" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          subresources: {
            status: {},
            scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
          },
          schema: {
            openAPIV3Schema: {
              type: "object",
              properties: {
                spec: {
                  type: "object",
                  "x-kubernetes-validations": [{ rule: "!has(self.a) || self.a != 'forbidden'", message: "not that" }],
                  properties: {
                    a: { type: "string", maxLength: 9, default: "first" },
                    replicas: { type: "integer", minimum: 0 },
                    tags: { type: "array", "x-kubernetes-list-type": "set", items: text },
                    parts: {
                      type: "array",
                      "x-kubernetes-list-type": "map",
                      "x-kubernetes-list-map-keys": ["name"],
                      items: { type: "object", required: ["name"], properties: { name: text, value: text } },
                    },
                    open: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
                  },
                },
                status: { type: "object", properties: { replicas: { type: "integer" }, phase: text } },
              },
            },
          },
        },
      ],
    },
  };
}

/** A conversation as the YAML of a script, to keep or to look at. */
export function scriptText({ name, steps }: Script): string {
  return stringify({ name, steps });
}

interface Kind {
  readonly plural: string;
  readonly path: string;
  readonly subresources: readonly string[];
  /** An object with some content. */
  object(name: string, metadata: object, content: string): Record<string, unknown>;
  /** Changes of the content, as merge patches. */
  readonly changes: readonly object[];
}

function kindsOf(group: string): Kind[] {
  return [
    {
      plural: "configmaps",
      path: "/api/v1/namespaces/$ns/configmaps",
      subresources: [],
      object: (name, metadata, content) => ({
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name, ...metadata },
        data: { k: content, [content]: "1" },
      }),
      changes: [{ data: { k: "x" } }, { data: { x: null, z: "1" } }, { data: null }, { data: { k: 5 } }],
    },
    {
      plural: "toys",
      path: `/apis/${group}/v1/namespaces/$ns/toys`,
      subresources: ["status", "scale"],
      object: (name, metadata, content) => ({
        apiVersion: `${group}/v1`,
        kind: "Toy",
        metadata: { name, ...metadata },
        spec: {
          a: content,
          tags: [content],
          parts: [{ name: content, value: "1" }],
          unknown: 1,
          open: { any: content },
        },
        status: { phase: content },
      }),
      changes: [
        { spec: { a: "x" } },
        { spec: { a: null, replicas: 2 } },
        { spec: { a: "forbidden" } },
        { spec: { parts: [{ name: "y" }, { name: "z", value: "2" }], tags: ["y", "z"] } },
        { spec: { tags: ["y", "y"] } },
        { spec: null },
        { status: { phase: "Done", replicas: 1 } },
      ],
    },
  ];
}

const MERGE = { "content-type": "application/merge-patch+json" };
const APPLY = { "content-type": "application/apply-patch+yaml" };
const JSON_PATCH = { "content-type": "application/json-patch+json" };

const names = fc.constantFrom("a", "b");
const contents = fc.constantFrom("x", "y", "forbidden");
const managers = fc.constantFrom("", "m1", "m2");
const labels = fc.constantFrom({}, { labels: { l: "1" } }, { labels: { l: "2", m: "1" } });
const finalizers = fc.constantFrom({}, {}, { finalizers: ["example.com/f"] }, { finalizers: ["example.com/g"] });
const versions = (name: string) => fc.constantFrom("", "", `$rv${name}`, `$rv${name}`, `$old${name}`, "1");
const flags = fc.constantFrom("", "", "", "dryRun=All", "fieldValidation=Strict");

/** Requests about one kind. Each remembers the version that the object then has. */
function commandsFor(kind: Kind): fc.Arbitrary<Step[]>[] {
  const write = (request: string, rest: Omit<RequestStep, "request">, name: string): Step[] => [
    { request, ...rest, save: { [`rv${name}`]: ".metadata.resourceVersion", [`uid${name}`]: ".metadata.uid" } },
  ];
  const query = (...parts: string[]) => {
    const text = parts.filter((part) => part !== "").join("&");
    return text === "" ? "" : `?${text}`;
  };
  const by = (manager: string) => (manager === "" ? "" : `fieldManager=${manager}`);
  const subresource = fc.constantFrom("", "", ...kind.subresources.map((one) => `/${one}`));
  const withVersion = names.chain((name) => fc.tuple(fc.constant(name), versions(name)));
  return [
    fc.tuple(names, contents, labels, finalizers, managers, flags).map(([name, content, label, held, manager, flag]) =>
      write(
        `POST ${kind.path}${query(by(manager), flag)}`,
        { body: kind.object(name, { ...label, ...held }, content) },
        name,
      ).map((step) => ({
        ...step,
        save: { ...(step as RequestStep).save, [`old${name}`]: ".metadata.resourceVersion" },
      })),
    ),
    fc
      .tuple(withVersion, contents, labels, finalizers, managers, flags, fc.constantFrom("", "", "/status"))
      .map(([[name, version], content, label, held, manager, flag, sub]) =>
        write(
          `PUT ${kind.path}/${name}${kind.subresources.length > 0 ? sub : ""}${query(by(manager), flag)}`,
          {
            body: kind.object(
              name,
              { ...label, ...held, ...(version !== "" && { resourceVersion: version }) },
              content,
            ),
          },
          name,
        ),
      ),
    fc
      .tuple(withVersion, fc.constantFrom(...kind.changes), managers, flags, subresource)
      .map(([[name, version], change, manager, flag, sub]) =>
        write(
          `PATCH ${kind.path}/${name}${sub}${query(by(manager), flag)}`,
          { headers: MERGE, body: { ...change, ...(version !== "" && { metadata: { resourceVersion: version } }) } },
          name,
        ),
      ),
    fc
      .tuple(names, contents, labels, fc.constantFrom("m1", "m2"), fc.constantFrom("", "force=true"), flags)
      .map(([name, content, label, manager, force, flag]) => {
        const { status: _, ...applied } = kind.object(name, label, content);
        delete (applied["spec"] as { unknown?: number } | undefined)?.unknown;
        return write(
          `PATCH ${kind.path}/${name}${query(by(manager), force, flag)}`,
          { headers: APPLY, body: applied },
          name,
        );
      }),
    fc
      .tuple(names, fc.constantFrom(null, [], ["example.com/f"], ["example.com/g", "example.com/f"]))
      .map(([name, list]) =>
        write(`PATCH ${kind.path}/${name}`, { headers: MERGE, body: { metadata: { finalizers: list } } }, name),
      ),
    fc
      .tuple(
        names,
        fc.constantFrom("add", "replace", "remove", "test"),
        fc.constantFrom("/metadata/labels", "/metadata/labels/l"),
      )
      .map(([name, op, path]) => {
        const value = path.endsWith("/l") ? "3" : { l: "3" };
        const operation = op === "remove" ? { op, path } : { op, path, value };
        return write(`PATCH ${kind.path}/${name}`, { headers: JSON_PATCH, body: [operation] }, name);
      }),
    fc
      .tuple(
        withVersion,
        fc.constantFrom("", "", "Background", "Foreground", "Orphan"),
        fc.constantFrom("", "", "dryRun=All"),
      )
      .map(([[name, version], policy, flag]): Step[] => [
        {
          request: `DELETE ${kind.path}/${name}${query(policy && `propagationPolicy=${policy}`, version && `resourceVersion=${version}`, flag)}`,
        },
      ]),
    names.map((name): Step[] => [{ request: `GET ${kind.path}/${name}` }]),
    fc
      .constantFrom("", "labelSelector=l%3D1", "labelSelector=!l", "fieldSelector=metadata.name%3Da", "limit=1")
      .map((selector): Step[] => [{ request: `GET ${kind.path}${query(selector)}` }]),
    fc
      .constantFrom("labelSelector=l%3D2", "fieldSelector=metadata.name%3Db", "")
      .map((selector): Step[] => [{ request: `DELETE ${kind.path}${query(selector)}` }]),
  ];
}
