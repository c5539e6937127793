/** Renders a release with what its templates read of the cluster. */
import { type AnyObject, ApiError, isNotFound, type KindRef } from "@konverge/core";
import type { ReconcileContext } from "@konverge/runtime";
import {
  type Lookup,
  type LookupResult,
  lookupText,
  RenderError,
  type Rendered,
  type RenderRequest,
} from "./engine/rendered.ts";
import type { HelmChart } from "./helm-chart.ts";
import type { Release, ReleaseState } from "./release-state.ts";

/** A lookup can depend on the result of another. */
const ROUNDS = 10;
/** How long it is known what a cluster serves. */
const CAPABILITIES_MS = 5 * 60_000;

/** What a release is rendered from, besides its chart. */
export interface ReleaseInputs {
  readonly object: Release;
  readonly state: ReleaseState;
  readonly overrides: Readonly<Record<string, string>>;
  readonly seed: string;
}

/** Throws a {@link RenderError} if it cannot be rendered. */
export async function renderRelease(
  chart: HelmChart,
  { object, state, overrides, seed }: ReleaseInputs,
  context: ReconcileContext,
  capabilities: ClusterCapabilities,
): Promise<Rendered> {
  const request: Omit<RenderRequest, "lookups"> = {
    chart: chart.source,
    values: object.spec ?? {},
    overrides,
    release: {
      name: object.metadata.name!,
      namespace: object.metadata.namespace!,
      revision: state.revision,
      upgrade: state.operation === "upgrade",
    },
    ...(chart.uses.capabilities && { capabilities: await capabilities.in(context) }),
    now: Date.parse(state.startedAt),
    seed: seed || `${object.metadata.uid}/${state.revision}`,
  };
  const lookups = new Map<string, LookupResult>();
  for (let round = 0; round < ROUNDS; round++) {
    const { result, missing } = attempt(chart, { ...request, lookups });
    if (missing.length === 0) {
      if (result instanceof RenderError) throw result;
      return result;
    }
    for (const one of missing) lookups.set(lookupText(one), await lookupResult(one, context));
  }
  throw new RenderError(`the templates look up something else each time they are rendered, ${ROUNDS} times`);
}

function attempt(chart: HelmChart, request: RenderRequest) {
  try {
    const result = chart.engine.render(request);
    return { result, missing: result.missing };
  } catch (error) {
    if (error instanceof RenderError) return { result: error, missing: error.missing };
    throw error;
  }
}

/** As Helm: what does not exist is empty, and anything else that fails ends the template. */
async function lookupResult(
  { apiVersion, kind, namespace, name }: Lookup,
  { client }: ReconcileContext,
): Promise<LookupResult> {
  try {
    const ref = (await client.mapper.resolve({ apiVersion, kind })) as KindRef<AnyObject>;
    const inNamespace = ref.namespaced && namespace !== "";
    if (name !== "") return { object: await client.get(ref, inNamespace ? `${namespace}/${name}` : name) };
    const list = await client.list(ref, inNamespace ? { namespace } : {});
    return { object: { apiVersion, kind: `${kind}List`, metadata: list.metadata, items: list.items } };
  } catch (error) {
    if (isNotFound(error)) return {};
    if (error instanceof ApiError && error.code < 500) return { error: error.message };
    if ((error as Error).name === "UnknownKindError") return { error: (error as Error).message };
    throw error;
  }
}

/** `.Capabilities` of a cluster, remembered for a while. */
export class ClusterCapabilities {
  readonly #known = new Map<string, { at: number; value: NonNullable<RenderRequest["capabilities"]> }>();

  async in({ client, cluster, clock }: ReconcileContext): Promise<NonNullable<RenderRequest["capabilities"]>> {
    const known = this.#known.get(cluster);
    if (known && clock.monotonic() - known.at < CAPABILITIES_MS) return known.value;
    const { gitVersion } = await client.version();
    const { resources } = await client.mapper.refresh();
    const apiVersions = new Set<string>();
    for (const { group, version, kind } of resources) {
      const apiVersion = group === "" ? version : `${group}/${version}`;
      apiVersions.add(apiVersion).add(`${apiVersion}/${kind}`);
    }
    const value = { kubeVersion: gitVersion, apiVersions: [...apiVersions].sort() };
    this.#known.set(cluster, { at: clock.monotonic(), value });
    return value;
  }

  /** The cluster begins or ceases to serve a kind. */
  forget(): void {
    this.#known.clear();
  }
}
