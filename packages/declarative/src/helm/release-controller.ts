/** The controller of the releases of a chart: it renders, applies, and runs hooks. */
import { createHash } from "node:crypto";
import { type AnyObject, groupKindText, type KindRef, type KubeObject, parseApiVersion } from "@konverge/core";
import { CustomResourceDefinition, Secret } from "@konverge/kinds";
import {
  type ChildrenOutcome,
  type Controller,
  controller,
  ownedKind,
  type PermissionDeclaration,
  permission,
  type ReconcileContext,
  type ReconcileResult,
} from "@konverge/runtime";
import { builtinKind } from "../kinds/known-kinds.ts";
import { runDeleteHooks } from "./delete-hooks.ts";
import { RenderError, type Rendered } from "./engine/rendered.ts";
import type { HelmChart } from "./helm-chart.ts";
import { placedObjects } from "./placed-objects.ts";
import { type ExistingObjects, planRelease, type ReleasePlan } from "./plan-release.ts";
import { areApplied, planConditions, refusalConditions, refusedConditions, statusOf } from "./release-report.ts";
import { currentState, type Release, type ReleaseState } from "./release-state.ts";
import { ClusterCapabilities, renderRelease } from "./render-release.ts";
import { childrenForSeed, seedChild, storedSeed } from "./render-seed.ts";
import { identity } from "./rendered-objects.ts";
import { applyKept, installDefinitions } from "./unowned-objects.ts";

/** As Operator SDK's Helm operators have it, so that they can be replaced. */
const FINALIZER = "helm.sdk.operatorframework.io/uninstall-release";
/** An annotation of Operator SDK: delete and create again what cannot be changed. */
const FORCE = "helm.sdk.operatorframework.io/upgrade-force";
/** What was looked up may change without an event. */
const LOOKUP_PERIOD = 60_000;

/** Options of the controller of a chart. */
export interface ReleaseControllerOptions {
  readonly chart: HelmChart;
  readonly overrides?: Readonly<Record<string, string>>;
  readonly labelSelector?: string;
  readonly resync?: number;
}

/** The controller of the releases of a chart. */
export function releaseController(kind: KindRef<Release>, options: ReleaseControllerOptions): Controller {
  const { chart, labelSelector, resync } = options;
  const releases = new Releases(options);
  return controller(kind, {
    finalizer: FINALIZER,
    teardown: "ordered",
    ...(labelSelector !== undefined && { labelSelector }),
    ...(resync !== undefined && { resync }),
    // Objects may be in other namespaces, or in none, where an owner reference cannot reach.
    owns: releases.kinds.map((one) => ownedKind(one, { by: "label", ...(isOptional(one) && { optional: true }) })),
    permissions: permissionsOf(chart),
    reconcile: (object, context) => releases.reconcile(object, context),
    cleanup: (object, context) => releases.cleanup(object, context),
  });
}

function permissionsOf({ uses, crds }: HelmChart): PermissionDeclaration[] {
  const lookups = uses.lookups.map((kind) => permission(kind, ["get", "list"], { why: "templates look objects up" }));
  if (crds.length === 0) return lookups;
  return [...lookups, permission(CustomResourceDefinition, ["get", "create"], { why: "installs what is in crds/" })];
}

/** Kinds that have a definition may go; Kubernetes' own do not. */
function isOptional({ group, version, kind }: KindRef<KubeObject>): boolean {
  return builtinKind(group === "" ? version : `${group}/${version}`, kind) === undefined;
}

/** What reconciles of a controller share: what is known of the cluster. */
class Releases {
  readonly kinds: readonly KindRef<KubeObject>[];
  readonly #chart: HelmChart;
  readonly #overrides: Readonly<Record<string, string>>;
  readonly #capabilities = new ClusterCapabilities();
  readonly #installed = new Set<string>();

  constructor({ chart, overrides = {} }: ReleaseControllerOptions) {
    this.#chart = chart;
    this.#overrides = overrides;
    const { kinds, random } = chart.uses;
    const hasSecrets = kinds.some((kind) => groupKindText(kind) === groupKindText(Secret));
    this.kinds = random && !hasSecrets ? [...kinds, Secret] : kinds;
  }

  async reconcile(object: Release, context: ReconcileContext): Promise<ReconcileResult<Release>> {
    const { random } = this.#chart.uses;
    await installDefinitions(this.#chart, this.#installed, context);
    const existing = this.#existing(context);
    const seed = random ? storedSeed(object, context) : "";
    if (seed === undefined) return { children: childrenForSeed(object, existing, context), requeueAfter: 1 };
    const state = currentState(object.status?.release, this.#inputs(object), isoTime(context));
    try {
      const rendered = await this.#render(object, state, seed, context);
      const recreate = object.metadata.annotations?.[FORCE] === "true";
      const plan = planRelease(rendered, state, existing, { recreate });
      await applyKept(plan.kept, this.kinds, context);
      return this.#result(object, plan, rendered, existing);
    } catch (error) {
      if (!(error instanceof RenderError)) throw error;
      return { conditions: refusedConditions(error.message) };
    }
  }

  async cleanup(object: Release, context: ReconcileContext) {
    const state = object.status?.release;
    if (!state) return undefined;
    const seed = this.#chart.uses.random ? (storedSeed(object, context) ?? "") : "";
    const render = () => this.#render(object, state, seed, context);
    return runDeleteHooks(state, (one) => this.#kindOf(one), render, context);
  }

  #result(object: Release, plan: ReleasePlan, rendered: Rendered, existing: ExistingObjects): ReconcileResult<Release> {
    const { state, applied, children } = plan;
    const { uses } = this.#chart;
    const name = object.metadata.name!;
    return {
      children: uses.random ? [seedChild(object), ...children] : children,
      status: statusOf(name, state),
      conditions: planConditions(plan, rendered.notes),
      ...(uses.lookups.length > 0 && { requeueAfter: LOOKUP_PERIOD }),
      report(outcome: ChildrenOutcome) {
        if (outcome.refused.length > 0) return { conditions: refusalConditions(outcome, rendered, state) };
        if (!applied || !areApplied(plan, existing, outcome)) return undefined;
        // Its own status does not cause a reconcile.
        return { status: statusOf(name, applied), requeueAfter: 1 };
      },
    };
  }

  async #render(object: Release, state: ReleaseState, seed: string, context: ReconcileContext): Promise<Rendered> {
    const inputs = { object, state, overrides: this.#overrides, seed };
    const rendered = await renderRelease(this.#chart, inputs, context, this.#capabilities);
    return placedObjects(rendered, object.metadata.namespace!, this.kinds);
  }

  #kindOf({ apiVersion, kind }: KubeObject): KindRef<AnyObject> {
    const name = groupKindText({ group: parseApiVersion(apiVersion).group, kind });
    return this.kinds.find((one) => groupKindText(one) === name) as KindRef<AnyObject>;
  }

  #existing({ observed }: ReconcileContext): ExistingObjects {
    const all = this.kinds.flatMap((kind) => observed.all(kind) as readonly KubeObject[]);
    const byName = new Map(all.map((object) => [identity(object), object]));
    return { all: () => all, of: (object) => byName.get(identity(object)) };
  }

  #inputs({ spec }: Release): string {
    const text = JSON.stringify([this.#chart.digest, spec ?? {}, this.#overrides]);
    return createHash("sha256").update(text).digest("hex").slice(0, 16);
  }
}

const isoTime = ({ clock }: ReconcileContext) => `${new Date(clock.now()).toISOString().slice(0, 19)}Z`;
