import { isMetadataOnly } from "@konverge/client";
import { groupKindText, type KindRef, type KubeObject, qualifiedNameErrors } from "@konverge/core";
import type { OwnedKind } from "../apply/child.ts";
import { selectionOf } from "../cache/selection.ts";
import type { Controller } from "./definition.ts";
import type { WatchedKind } from "./watched.ts";

/** A field manager has no longer name. */
const LONGEST_NAME = 128;

/** Throws if a controller cannot work as it is written down, and says where that is and what to write instead. */
export function checkDefinition({ name, kind, owns, finalizer, options }: Controller): void {
  const mistake = (what: string) => new TypeError(`controller ${name}: ${what}`);
  const { reconcile, namespaces, concurrency, deadline, resync, watches = [], labelSelector, fieldSelector } = options;
  if (typeof reconcile !== "function") throw mistake("`reconcile` must be a function that returns the desired state");
  if (name.length === 0 || name.length > LONGEST_NAME) {
    throw mistake(`a \`name\` has 1 to ${LONGEST_NAME} characters: the controller owns fields under it`);
  }
  if (namespaces?.length === 0) throw mistake("`namespaces` is empty: omit it for all namespaces");
  if (concurrency !== undefined && (!Number.isInteger(concurrency) || concurrency < 1)) {
    throw mistake(`\`concurrency\` is ${concurrency}: it must be an integer of at least 1`);
  }
  for (const [what, value] of Object.entries({
    deadline,
    resync,
    "backoff.initial": options.backoff?.initial,
    "backoff.longest": options.backoff?.longest,
    "rateLimit.perSecond": options.rateLimit?.perSecond,
    "rateLimit.burst": options.rateLimit?.burst,
  })) {
    if (value !== undefined && !(value > 0)) throw mistake(`\`${what}\` is ${value}: it must be more than 0`);
  }
  const errors = finalizer === undefined ? [] : qualifiedNameErrors(finalizer);
  if (errors.length > 0 || finalizer?.includes("/") === false) {
    throw mistake(
      `the finalizer ${finalizer} must be a name with a domain, such as example.com/cleanup ${errors.join("; ")}`,
    );
  }
  if (
    options.needsCleanup &&
    (options.daemons || options.teardown === "ordered" || owns.some(({ by }) => by === "label"))
  ) {
    throw mistake(
      "omit `needsCleanup`: daemons, an ordered teardown and children by label need the finalizer on every object",
    );
  }
  selectionOf(kind, { labelSelector, fieldSelector });
  checkOwned(owns, mistake);
  checkWatched(kind, watches, mistake);
}

type Mistake = (what: string) => TypeError;

function checkOwned(owns: readonly OwnedKind[], mistake: Mistake): void {
  const seen = new Set<string>();
  owns.forEach(({ kind, labelSelector, optional, createOnly, from, onImmutable }, i) => {
    if (!isKind(kind))
      throw mistake(`\`owns\`[${i}] is not a kind: list kinds, such as Deployment or ownedKind(Job, { … })`);
    const what = groupKindText(kind);
    if (isMetadataOnly(kind)) throw mistake(`\`owns\` lists the metadata of ${what} alone: children are whole objects`);
    if (seen.has(what)) throw mistake(`\`owns\` lists ${what} twice: a kind can be listed only once`);
    seen.add(what);
    if (optional) checkOptional(kind, mistake);
    if (createOnly && (from || onImmutable))
      throw mistake(`omit \`from\` and \`onImmutable\` for ${what}: create-only children are never changed`);
    selectionOf(kind, { labelSelector });
  });
}

/** Several declarations of a kind are read as one, so they have to agree on what is kept and what an index means. */
function checkWatched(own: KindRef<KubeObject>, watches: readonly WatchedKind[], mistake: Mistake): void {
  const projections = new Map<string, unknown>([[shapeOf(own), undefined]]);
  const indexes = new Map<string, unknown>();
  watches.forEach((watched, i) => {
    const { kind, options } = watched ?? {};
    if (!isKind(kind) || !options)
      throw mistake(`\`watches\`[${i}] is neither a watchKind(Kind, …) nor a cacheKind(Kind)`);
    const what = groupKindText(kind);
    if (options.optional) checkOptional(kind, mistake);
    if (options.namespaces?.length === 0)
      throw mistake(`\`namespaces\` of ${what} is empty: omit it for all namespaces`);
    selectionOf(kind, options);
    const shape = shapeOf(kind);
    if (projections.has(shape) && projections.get(shape) !== options.project) {
      throw mistake(`${what} is declared several times with different \`project\`: use the same one`);
    }
    projections.set(shape, options.project);
    for (const [index, valuesOf] of Object.entries(options.indexes ?? {})) {
      const name = `${shape} ${index}`;
      if ((indexes.get(name) ?? valuesOf) !== valuesOf) {
        throw mistake(
          `${what} has two indexes called ${index}: give one of them another name, or use the same function`,
        );
      }
      indexes.set(name, valuesOf);
    }
  });
}

/** The groups of Kubernetes itself have no CustomResourceDefinitions: most have a name without a domain. */
function checkOptional(kind: KindRef<KubeObject>, mistake: Mistake): void {
  if (kind.group.includes(".")) return;
  throw mistake(`omit \`optional\` for ${groupKindText(kind)}: it has no CustomResourceDefinition`);
}

const isKind = (given: unknown): given is KindRef<KubeObject> =>
  typeof given === "object" && given !== null && "plural" in given && "kind" in given && "version" in given;

const shapeOf = (kind: KindRef<KubeObject>) => `${kind.version} ${groupKindText(kind)} ${isMetadataOnly(kind)}`;

/** Throws unless a kind was given. */
export function checkKind(kind: unknown): void {
  if (!isKind(kind)) {
    throw new TypeError(
      `controller(${String(kind)}, …): the first argument must be a kind, such as defineKind returns`,
    );
  }
}
