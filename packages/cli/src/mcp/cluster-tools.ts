import type { Entry, ObjectSummary } from "@konverge/console";
import type { KindRef, KubeObject } from "@konverge/core";
import { parseYaml, printYaml, z } from "@konverge/schema";
import { UsageError } from "../usage-error.ts";
import type { Connection } from "./connection.ts";
import type { ToolList } from "./tool.ts";

/** Who owns the fields that `apply` sets. */
const MANAGER = "konverge-mcp";
/** Objects and entries of one answer. */
const MOST = 200;

const named = {
  kind: z.string().describe("such as Deployment"),
  name: z.string(),
  namespace: z.string().optional().describe("of namespaced kinds"),
};

/** The tools that only read a cluster. */
export function readingTools(add: ToolList, connection: Connection): void {
  add(
    {
      name: "status",
      description:
        "Objects of the cluster with their readiness and why they are not ready, those that are not ready first. Without arguments: custom resources, and all that is not ready.",
      input: z.object({ kind: named.kind.optional(), namespace: named.namespace }),
    },
    async ({ kind, namespace }) => {
      const { followed } = await connection.get();
      const all = followed.objects().filter((one) => namespace === undefined || one.namespace === namespace);
      const chosen = all.filter((one) => (kind === undefined ? isNotable(one) : one.kind === kind));
      const sorted = chosen.toSorted((a, b) => Number(isGood(a)) - Number(isGood(b)));
      return {
        objects: sorted.slice(0, MOST).map(shown),
        ...(sorted.length > MOST && { more: sorted.length - MOST }),
        ...(followed.hidden.length > 0 && { notPermitted: followed.hidden }),
      };
    },
  );
  add(
    {
      name: "get_object",
      description: "An object as YAML, without managed fields. Values of Secrets are hidden.",
      input: z.object(named),
    },
    async (which) => {
      const { followed } = await connection.get();
      return printYaml(followed.object(found(followed.objects(), which).id) as KubeObject);
    },
  );
  add(
    {
      name: "timeline",
      description:
        "What happened to an object since this server connected: changes with their fields and who wrote them, events, and reconciles of operators that run as pods. With its owned objects.",
      input: z.object({ ...named, last: z.int().min(1).max(MOST).default(50).describe("number of entries") }),
    },
    async ({ last, ...which }) => {
      const { followed } = await connection.get();
      const ids = withOwned(followed.objects(), followed.entries, which);
      const entries = followed.entries.filter((entry) => ids.has(idOf(entry) ?? ""));
      return { entries: entries.slice(-last).map(readable) };
    },
  );
}

/** The tools that change a cluster. */
export function writingTools(add: ToolList, connection: Connection): void {
  add(
    {
      name: "start_cluster",
      description:
        "Starts an embedded Kubernetes cluster with simulated nodes; all tools work on it from then on. It ends with this server. Returns its kubeconfig, for kubectl and konverge run.",
      input: z.object({
        name: z.string().default("mcp"),
        nodes: z.int().min(0).max(100).default(3),
        gpus: z.string().default("none").describe("such as H100=8x2, or none"),
      }),
      writes: true,
    },
    async (shape) => ({ kubeconfig: await connection.start(shape) }),
  );
  add(
    { name: "stop_cluster", description: "Stops the cluster that start_cluster started.", writes: true },
    async () => {
      await connection.stop();
      return "stopped";
    },
  );
  add(
    {
      name: "apply",
      description:
        "Applies the objects in YAML by server-side apply. With dryRun, the API server checks them and stores nothing.",
      input: z.object({ yaml: z.string(), dryRun: z.boolean().default(false) }),
      writes: true,
    },
    async ({ yaml, dryRun }) => {
      const { client } = await connection.get();
      const applied: string[] = [];
      for (const object of parseYaml(yaml) as (KubeObject | null)[]) {
        if (object === null) continue;
        const kind = await client.mapper.resolve({ apiVersion: object.apiVersion ?? "", kind: object.kind ?? "" });
        const place = kind.namespaced ? { namespace: object.metadata.namespace ?? client.namespace } : {};
        const placed = { ...object, metadata: { ...object.metadata, ...place } };
        await client.apply(kind as KindRef<KubeObject>, placed as never, {
          fieldManager: MANAGER,
          force: true,
          dryRun,
        });
        applied.push(`${object.kind} ${placed.metadata.namespace ?? ""}/${object.metadata.name}`);
      }
      return { applied, dryRun };
    },
  );
  add(
    { name: "delete_object", description: "Deletes an object.", input: z.object(named), writes: true },
    async (which) => {
      const { client, followed } = await connection.get();
      const { group, version, kind, plural, namespace, name } = found(followed.objects(), which);
      const ref: KindRef<KubeObject> = { group, version, kind, plural, namespaced: namespace !== undefined };
      await client.delete(ref, namespace === undefined ? name : `${namespace}/${name}`);
      return "deleted";
    },
  );
}

interface Which {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string | undefined;
}

function isNamed(one: { kind: string; name: string; namespace?: string }, which: Which): boolean {
  const inPlace = which.namespace === undefined || one.namespace === which.namespace;
  return one.kind === which.kind && one.name === which.name && inPlace;
}

function found(objects: readonly ObjectSummary[], which: Which): ObjectSummary {
  const matching = objects.filter((one) => isNamed(one, which));
  if (matching.length > 1)
    throw new UsageError(`several objects match: pass the namespace (${matching.map(({ namespace }) => namespace)})`);
  if (!matching[0]) throw new UsageError(`there is no ${which.kind} ${which.name}, or it cannot be watched`);
  return matching[0];
}

/** The ids of an object, deleted ones of that name included, and of all that it owns. */
function withOwned(objects: readonly ObjectSummary[], entries: readonly Entry[], which: Which): ReadonlySet<string> {
  const ids = new Set(objects.filter((one) => isNamed(one, which)).map(({ id }) => id));
  for (const entry of entries) {
    if ((entry.type === "change" || entry.type === "event") && isNamed(entry.object, which)) ids.add(entry.object.id);
  }
  for (let size = -1; size < ids.size; ) {
    size = ids.size;
    for (const one of objects) if (one.owners.some((owner) => ids.has(owner))) ids.add(one.id);
  }
  return ids;
}

const idOf = (entry: Entry) =>
  entry.type === "change" || entry.type === "event"
    ? entry.object.id
    : entry.type === "reconcile"
      ? entry.object
      : undefined;

const isGood = ({ state }: ObjectSummary) => state === "ready" || state === "done";
const isNotable = (one: ObjectSummary) => !isGood(one) || (one.group.includes(".") && !one.group.endsWith(".k8s.io"));

function shown({ kind, namespace, name, state, message, problem }: ObjectSummary) {
  return { kind, ...(namespace && { namespace }), name, state, message, ...(problem && { problem }) };
}

/** An entry without its numbers, its time readable. */
function readable(entry: Entry) {
  const { id: _, at, ...rest } = entry;
  const object =
    rest.type === "change" || rest.type === "event"
      ? { object: `${rest.object.kind} ${rest.object.namespace ?? ""}/${rest.object.name}` }
      : {};
  return { at: new Date(at).toISOString(), ...rest, ...object };
}
