import { type CallWebhook, loadSnapshot, type Snapshot } from "@konverge/apiserver";
import type { Client } from "@konverge/client";
import { type Cluster, startCluster } from "@konverge/cluster";
import {
  type AnyObject,
  ApiError,
  isNotFound,
  type KindRef,
  type KubeObject,
  keyOf,
  type Schema,
} from "@konverge/core";
import { CustomResourceDefinition, Namespace } from "@konverge/kinds";
import { type Operator, silentLog, Webhooks } from "@konverge/runtime";
import { fromCRD, validateValue } from "@konverge/schema";
import { differingFields, valueText } from "@konverge/testing";
import { type ClusterChoice, connectToCluster } from "../cluster-connection.ts";
import { readLiveState } from "../live/read-live-state.ts";
import { partsOf } from "../manifests/operator-objects.ts";
import { UsageError } from "../usage-error.ts";
import { type StoredFinding, StoredFindings } from "./stored-findings.ts";

/** The objects that are stored: those of a live cluster, or of a file that `konverge snapshot` wrote. */
export type StoredIn = { readonly live: ClusterChoice } | { readonly file: string };

/** What new CRDs do to stored objects. */
export interface StoredCheck {
  readonly findings: readonly StoredFinding[];
  /** How many objects were checked. */
  readonly objects: number;
}

/** A field that no object has. */
const ANOTHER_FIELD = "konverge.dev/changed";

/** The fields of an object that a CRD's schema and conversion decide about. */
type Content = Omit<AnyObject, "metadata" | "apiVersion">;

/**
 * Checks new CRDs against the objects that are stored, in an embedded API server that begins with them: it takes the CRDs as
 * an update, as the live one would, reads each object in each version, writes it again as it was read, and reads it once more.
 * Nothing is written to a live cluster.
 *
 * `operators` have the conversions, where the CRDs name a webhook: the live one cannot know the new version.
 */
export async function checkStored(
  crds: readonly CustomResourceDefinition[],
  where: StoredIn,
  operators: readonly Operator[],
): Promise<StoredCheck> {
  const state = "file" in where ? stateIn(where.file) : await liveState(crds, where.live);
  const webhooks = new Webhooks({
    conversions: operators.flatMap((operator) => partsOf(operator).conversions ?? []),
    log: silentLog,
  });
  const converts = new Set(webhooks.conversions.map((kind) => `${kind.plural}.${kind.group}`));
  const callWebhook: CallWebhook = (target, review) => webhooks.call(target, review);
  await using judge = await startCluster({ parts: [], nodes: [], server: { state, callWebhook } });
  const findings = new StoredFindings();
  let objects = 0;
  for (const crd of crds) objects += await new CrdCheck(judge, crd, findings, converts).run();
  return { findings: findings.all(), objects };
}

function stateIn(file: string): Snapshot {
  try {
    return loadSnapshot(file);
  } catch (error) {
    throw new UsageError(`${file} is no context of the kubeconfig and no snapshot: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** The CRDs of a live cluster and their objects, in the version in which they are stored. */
async function liveState(crds: readonly CustomResourceDefinition[], choice: ClusterChoice): Promise<Snapshot> {
  await using client = await connectToCluster(choice);
  const { resources } = await client.mapper.refresh();
  const kinds = [CustomResourceDefinition, Namespace].flatMap(({ group, plural }) =>
    resources.filter((one) => one.group === group && one.plural === plural).slice(0, 1),
  );
  for (const { metadata } of crds) {
    const live = await found(client, metadata.name);
    const stored = live?.spec.versions.find(({ storage, served }) => storage && served)?.name;
    const own = resources.filter((one) => `${one.plural}.${one.group}` === metadata.name);
    const kind = own.find(({ version }) => version === stored) ?? own[0];
    if (kind) kinds.push(kind);
  }
  return (
    await readLiveState(
      client,
      kinds.map((kind) => ({ kind, objects: "all" })),
    )
  ).state;
}

async function found(client: Client, name: string): Promise<CustomResourceDefinition | undefined> {
  try {
    return await client.get(CustomResourceDefinition, name);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** The check of one CRD. */
class CrdCheck {
  readonly #judge: Cluster;
  readonly #crd: CustomResourceDefinition;
  readonly #findings: StoredFindings;
  readonly #converts: ReadonlySet<string>;

  constructor(judge: Cluster, crd: CustomResourceDefinition, findings: StoredFindings, converts: ReadonlySet<string>) {
    this.#judge = judge;
    this.#crd = crd;
    this.#findings = findings;
    this.#converts = converts;
  }

  get #name(): string {
    return this.#crd.metadata.name;
  }

  /** Returns the number of objects. */
  async run(): Promise<number> {
    const { client } = this.#judge;
    const live = await found(client, this.#name);
    if (!live) {
      this.#note("unchecked", "the cluster does not have this CRD: there are no objects to check");
      return 0;
    }
    this.#noteStoredVersions(live);
    const before = await all(client, kindOf(live, readableVersion(live)));
    if (!(await this.#update(live))) return before.length;
    const versions = this.#crd.spec.versions.filter(({ served }) => served).map(({ name }) => name);
    for (const version of versions) await this.#checkVersion(version, before, readableVersion(live));
    return before.length;
  }

  #note(type: StoredFinding["type"], message: string): void {
    this.#findings.add(type, { crd: this.#name, message });
  }

  #noteStoredVersions({ status }: CustomResourceDefinition): void {
    const current = this.#crd.spec.versions.find(({ storage }) => storage)?.name;
    const old = (status?.storedVersions ?? []).filter((version) => version !== current);
    if (old.length === 0) return;
    this.#note(
      "stored",
      `objects may be stored as ${old.join(", ")}: konverge migrate-storage ${this.#name} stores them as ${current}`,
    );
  }

  /** Takes the new CRD as an update of the live one. */
  async #update(live: CustomResourceDefinition): Promise<boolean> {
    const { spec } = this.#crd;
    const isConverted = spec.conversion?.strategy === "Webhook";
    const isKnown = this.#converts.has(this.#name);
    if (isConverted && !isKnown)
      this.#note("unchecked", "conversion by a webhook: name the operator that converts with --operator");
    // The path of the webhooks of an operator, and no address: it is in this process.
    const clientConfig = { url: "https://operator.invalid/convert" };
    const webhook = { clientConfig, conversionReviewVersions: ["v1"] };
    const conversion =
      isConverted && isKnown ? ({ strategy: "Webhook", webhook } as const) : ({ strategy: "None" } as const);
    try {
      await this.#judge.client.update(CustomResourceDefinition, { ...live, spec: { ...spec, conversion } });
      return true;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#note("crd", error.message);
      return false;
    }
  }

  async #checkVersion(version: string, before: readonly AnyObject[], readAs: string): Promise<void> {
    const kind = kindOf(this.#crd, version);
    const same = version === readAs;
    await using copy = await this.#judge.fork();
    const { client } = copy;
    const objects = await this.#read(client, kind, before);
    const originals = new Map(before.map((object) => [keyOf(object), object]));
    const { schema } = fromCRD(this.#crd).atVersion(version);
    const written: string[] = [];
    for (const object of objects) {
      const key = keyOf(object);
      if (same) this.#compare(originals.get(key), object, version, key, "");
      if (!(await this.#write(client, kind, object))) continue;
      written.push(key);
      this.#judgeNextChange(object, version, key, schema);
    }
    if (!same) await this.#compareRoundTrip(client, version, new Set(written), readAs);
  }

  /** All objects in a version; those that cannot be converted are findings. */
  async #read(client: Client, kind: KindRef<KubeObject>, before: readonly AnyObject[]): Promise<AnyObject[]> {
    try {
      return await all(client, kind);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
    const objects: AnyObject[] = [];
    for (const one of before) {
      const key = keyOf(one);
      try {
        objects.push((await client.get(kind, key)) as AnyObject);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        this.#findings.add("unreadable", { crd: this.#name, version: kind.version, message: error.message }, key);
      }
    }
    return objects;
  }

  async #write(client: Client, kind: KindRef<KubeObject>, object: AnyObject): Promise<boolean> {
    try {
      await client.update(kind, object as never);
      return true;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const causes = error.status.details?.causes ?? [];
      const why = causes.map((cause) => `${cause.field}: ${cause.message}`).join("; ") || error.message;
      const message = `any write, even without a change: ${why}`;
      const same = causes.map(({ field, reason }) => `${field} ${reason}`).join(" ");
      this.#findings.add("refused", { crd: this.#name, version: kind.version, message }, keyOf(object), same);
      return false;
    }
  }

  /** What is wrong with an object that can be written unchanged: an API server minds it when what it is in changes. */
  #judgeNextChange(object: AnyObject, version: string, key: string, schema: Schema): void {
    const wrong = validateValue(schema, object);
    if (wrong.length === 0) return;
    const changed = { ...object, spec: { ...(object["spec"] as object), [ANOTHER_FIELD]: "" } };
    const refused = new Set(
      validateValue(schema, object, { old: changed }).map(({ field, message }) => field + message),
    );
    for (const { field, message } of wrong) {
      const isRefused = refused.has(field + message);
      const text = `${field}: ${message}`;
      const of = { crd: this.#name, version, message: isRefused ? `the next change of its spec: ${text}` : text };
      this.#findings.add(isRefused ? "refused" : "tolerated", of, key, field);
    }
  }

  /** Objects that were written as they were read in another version, and are read again as they were stored. */
  async #compareRoundTrip(
    client: Client,
    version: string,
    written: ReadonlySet<string>,
    readAs: string,
  ): Promise<void> {
    const served = this.#crd.spec.versions.some((one) => one.name === readAs && one.served);
    if (!served) return;
    const kind = kindOf(this.#crd, readAs);
    const [then, now] = [await all(this.#judge.client, kind), await all(client, kind)];
    const first = new Map(then.map((object) => [keyOf(object), object]));
    for (const object of now) {
      const key = keyOf(object);
      if (written.has(key)) this.#compare(first.get(key), object, version, key, ` when it is written as ${version}`);
    }
  }

  #compare(before: AnyObject | undefined, after: AnyObject, version: string, key: string, when: string): void {
    if (!before) return;
    for (const { path, expected, actual } of differingFields(contentOf(before), contentOf(after))) {
      const isLost = actual === undefined;
      const text = isLost
        ? `${path} is lost${when}: it was ${valueText(expected)}`
        : `${path} becomes ${valueText(actual)}${when}${expected === undefined ? "" : `: it was ${valueText(expected)}`}`;
      this.#findings.add(isLost ? "lost" : "changed", { crd: this.#name, version, message: text }, key, path + when);
    }
  }
}

function contentOf({ metadata, apiVersion: _, ...content }: AnyObject): Content {
  const { labels, annotations } = metadata;
  return { ...content, labels, annotations } as unknown as Content;
}

/** The version that a CRD stores, or another one if that is not served. */
function readableVersion({ spec }: CustomResourceDefinition): string {
  const served = spec.versions.filter((version) => version.served);
  return (served.find(({ storage }) => storage) ?? served[0] ?? spec.versions[0])!.name;
}

function kindOf({ spec }: CustomResourceDefinition, version: string): KindRef<KubeObject> {
  const { kind, plural } = spec.names;
  return { group: spec.group, version, kind, plural, namespaced: spec.scope === "Namespaced" };
}

async function all(client: Client, kind: KindRef<KubeObject>): Promise<AnyObject[]> {
  return (await client.list(kind)).items as AnyObject[];
}
