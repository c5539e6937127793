/**
 * Deliberate mistakes. Each is a change of one place in the server's source, made only while that source is being loaded
 * for a run of the suite (see mutant-worker.ts): nothing of it is in the server. The suite must notice every one of them.
 */
export interface Mutant {
  /** What the server now gets wrong. */
  readonly name: string;
  /** In packages/apiserver/src. */
  readonly file: string;
  /** Occurs exactly once. */
  readonly find: string;
  readonly replace: string;
}

const mutant = (name: string, file: string, find: string, replace: string): Mutant => ({ name, file, find, replace });

export const mutants: readonly Mutant[] = [
  mutant(
    "an update does not insist on its version",
    "verbs/update.ts",
    "} else if (given !== stored.metadata.resourceVersion) throw modified(definition, info.name);",
    "}",
  ),
  mutant(
    "an update ignores the uid it is for",
    "verbs/update.ts",
    "if (uid && uid !== stored.metadata.uid) throw",
    "if (uid === stored.metadata.name) throw",
  ),
  mutant(
    "every kind may be updated unconditionally",
    "verbs/update.ts",
    "if (isMissing && definition.strategy.allowUnconditionalUpdate) {",
    "if (isMissing) {",
  ),
  mutant(
    "generation counts changes of the status",
    "verbs/update.ts",
    'if (strategy.hasGeneration && info.subresource !== "status" && changesGeneration(call, object, old)) {',
    "if (strategy.hasGeneration && changesGeneration(call, object, { ...old, status: null })) {",
  ),
  mutant(
    "generation does not count at all",
    "verbs/update.ts",
    "object.metadata.generation = (old.metadata.generation ?? 0) + 1;",
    "",
  ),
  mutant(
    "a request sets its own generation",
    "verbs/update.ts",
    "else object.metadata.generation = old.metadata.generation;",
    "",
  ),
  mutant(
    "an update writes the status as well",
    "verbs/update.ts",
    "ofStatus.has(key) === isStatus) continue;",
    "ofStatus.has(key)) continue;",
  ),
  mutant(
    "an update that changes nothing is written",
    "verbs/update.ts",
    "return deepEqual(canonical, stored) && stringifyJson(canonical) === entry.text;",
    "return Number(next.metadata.resourceVersion) < 0;",
  ),
  mutant(
    "the times of managers change with every write",
    "verbs/update.ts",
    "const kept = keepTimesOfNoop(old, object) as WorkingObject;",
    'const kept = { ...object, metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, t: "1" } } } as WorkingObject;',
  ),
  mutant(
    "a dry run of an update is stored",
    "verbs/update.ts",
    "if (call.dryRun) return { object: next, created: false };",
    "",
  ),
  mutant(
    "the last finalizer does not end an object",
    "verbs/update.ts",
    "if (object.metadata.finalizers?.length || old.metadata.deletionTimestamp === undefined) return false;",
    "if (object.metadata.name) return false;",
  ),
  mutant(
    "an object ends while finalizers are left",
    "verbs/update.ts",
    "if (object.metadata.finalizers?.length || old.metadata.deletionTimestamp === undefined) return false;",
    "if (old.metadata.deletionTimestamp === undefined) return false;",
  ),
  mutant(
    "a watcher of the end sees the object as the update left it",
    "verbs/update.ts",
    "store.remove(definition.storage, key, contentOf(definition, stored));",
    "store.remove(definition.storage, key, contentOf(definition, next));",
  ),
  mutant(
    "what is there already is overwritten by a create",
    "verbs/create.ts",
    "if (existing) throw exists(call, existing);",
    "",
  ),
  mutant(
    "a dry run of a create is stored",
    "verbs/create.ts",
    "if (call.dryRun) return { object, created: true };",
    "",
  ),
  mutant("a new object keeps the status it came with", "verbs/create.ts", "delete object[field];", ""),
  mutant(
    "generation begins at nought",
    "verbs/create.ts",
    "object.metadata.generation = 1;",
    "object.metadata.generation = 0;",
  ),
  mutant("metadata of new objects is not judged", "verbs/create.ts", "...metadataErrors(call, object.metadata),", ""),
  mutant(
    "the writer of a new object does not own it",
    "verbs/create.ts",
    "await recordUpdate(call, undefined, draft);",
    "draft;",
  ),
  mutant(
    "when an object is to be deleted is said when it is created",
    "verbs/metadata.ts",
    '  "deletionTimestamp",\n  "deletionGracePeriodSeconds",\n  "selfLink",',
    '  "selfLink",',
  ),
  mutant(
    "objects can be created in another namespace",
    "verbs/metadata.ts",
    'else throw badRequest("the namespace of the provided object does not match the namespace sent on the request");',
    "else metadata.namespace = wanted;",
  ),
  mutant("an update may be sent to another name", "verbs/metadata.ts", "if (name === info.name) return;", "return;"),
  mutant(
    "finalizers can be added while an object is being deleted",
    "verbs/metadata.ts",
    "if (added.length > 0) {",
    "if (added.length > 9) {",
  ),
  mutant(
    "uids can be changed",
    "verbs/metadata.ts",
    '  "namespace",\n  "uid",\n  "creationTimestamp",',
    '  "namespace",\n  "creationTimestamp",',
  ),
  mutant(
    "an owner may be named twice",
    "verbs/metadata.ts",
    "const text = toGoJson(owner);",
    "const text = toGoJson(owner) + kept.size;",
  ),
  mutant(
    "a delete ignores its uid precondition",
    "verbs/delete.ts",
    "if (uid !== undefined && uid !== metadata.uid) {",
    "if (uid === metadata.name) {",
  ),
  mutant(
    "a delete ignores its version precondition",
    "verbs/delete.ts",
    "if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {",
    "if (resourceVersion === metadata.name) {",
  ),
  mutant(
    "finalizers do not hold an object",
    "verbs/delete.ts",
    "const isHeld = finalizers.length > 0 || strategy.isHeld?.(object);",
    "const isHeld = strategy.isHeld?.(object);",
  ),
  mutant(
    "a deletion does not count as a change of what is desired",
    "verbs/delete.ts",
    "      if (metadata.generation) metadata.generation += 1;\n      metadata.deletionTimestamp",
    "      metadata.deletionTimestamp",
  ),
  mutant(
    "a dry run of a delete deletes",
    "verbs/delete.ts",
    "if (!call.dryRun) {\n        // An",
    "if (call) {\n        // An",
  ),
  mutant(
    "dependents are orphaned in the foreground",
    "verbs/delete.ts",
    'wants(FOREGROUND, "Foreground", false)',
    'wants(FOREGROUND, "Orphan", false)',
  ),
  mutant(
    "deleting a collection deletes all there is",
    "verbs/delete-collection.ts",
    "const { metadata, entries } = await selectPage(call);",
    "const { metadata, entries } = await selectPage({ ...call, info: { ...call.info, query: new URLSearchParams() } });",
  ),
  mutant("pages begin with the last of the page before", "verbs/list.ts", "if (entry.key < from) continue;", ""),
  mutant(
    "later pages show newer objects",
    "verbs/list.ts",
    "return { state, revision: token.revision, from };",
    "return { ...now(call), from };",
  ),
  mutant(
    "how many remain is one too many",
    "verbs/list.ts",
    "remainingItemCount: state.countAfter(selection.prefix, last)",
    "remainingItemCount: state.countAfter(selection.prefix, last) + 1",
  ),
  mutant(
    "a list of a version shows the newest",
    "verbs/list.ts",
    "return { state, revision: wanted };",
    "return now(call);",
  ),
  mutant("selectors match everything", "verbs/selectors.ts", "matchesLabels(byLabel, entry.labels)", "true"),
  mutant(
    "fields that cannot be selected are ignored",
    "verbs/selectors.ts",
    "if (!known.has(field)) throw unknownField(call, field);",
    "",
  ),
  mutant(
    "a watch drops deletions",
    "verbs/watch.ts",
    'return deleted ? writer.entry("DELETED", entry) : writer.left(previous!, entry.revision);',
    "return deleted ? undefined : writer.left(previous!, entry.revision);",
  ),
  mutant(
    "an object that leaves a selection is not told of",
    "verbs/watch.ts",
    "if (!was) return undefined;",
    "if (!was || !deleted) return undefined;",
  ),
  mutant(
    "an object that comes into a selection was always there",
    "verbs/watch.ts",
    'writer.entry(was ? "MODIFIED" : "ADDED", entry)',
    'writer.entry(previous ? "MODIFIED" : "ADDED", entry)',
  ),
  mutant(
    "a watch without a version brings only what is new",
    "verbs/watch.ts",
    "if (sendInitialEvents ?? revision === 0)",
    "if (sendInitialEvents ?? false)",
  ),
  mutant(
    "the end of initial events is not marked",
    "verbs/watch.ts",
    "if (parameters.allowWatchBookmarks) yield writer.bookmark(position, true);",
    "",
  ),
  mutant(
    "an apply never conflicts",
    "verbs/apply.ts",
    "fields.apply(live, applied, fieldManager, { force })",
    "fields.apply(live, applied, fieldManager, { force: true })",
  ),
  mutant(
    "an apply does not create",
    "verbs/patch.ts",
    '...(isApply && call.info.subresource === "" && {',
    "...(isApply && call.info.subresource && {",
  ),
  mutant(
    "strategic merge patches replace lists",
    "verbs/patch.ts",
    "const patched = applyStrategicMergePatch(live, value, call.version.schema);",
    "const patched = applyMergePatch(live, value);",
  ),
  mutant(
    "unknown fields are not noticed",
    "verbs/body.ts",
    "...unknown.map((field) => ({ problem:",
    "...[].map((field: string) => ({ problem:",
  ),
  mutant("defaults of built-in kinds are forgotten", "codec/typed.ts", "applyDefaults(schema(), object);", ""),
  mutant(
    "defaults of custom resources are forgotten",
    "codec/custom.ts",
    "applyDefaults: (object) => void applyDefaults(schema, object),",
    "applyDefaults: () => {},",
  ),
  mutant(
    "custom resources are not judged by their schema",
    "crd/instance-strategy.ts",
    "return validateValue(schema, object, { ...(scale && { scale }) });",
    "return [];",
  ),
  mutant(
    "a status is not judged by its schema",
    "crd/instance-strategy.ts",
    "return statusErrors(call, object, old);",
    "return [];",
  ),
  mutant(
    "what is old is judged as strictly as what is new",
    "crd/instance-strategy.ts",
    "return validateValue(schema, object, { old, ...(scale && { scale }), warn: call.warn });",
    "return validateValue(schema, object, { ...(scale && { scale }) });",
  ),
  mutant(
    "stored objects do not follow their schema",
    "call/stored.ts",
    "const isCurrent = entry.revision > (definition.since ?? 0);",
    "const isCurrent = entry.revision > 0;",
  ),
  mutant(
    "the storage version may go",
    "crd/validate-definition.ts",
    "    if (!missing.has(name)) continue;",
    "    if (missing) continue;",
  ),
  mutant(
    "two CRDs may have one name",
    "crd/names.ts",
    "|| !taken.has(name)) accepted[field] = name;",
    "|| taken) accepted[field] = name;",
  ),
  mutant(
    "a CRD goes before its instances",
    "crd/custom-resources.ts",
    "if (isEstablished && this.#instancesOf(name) > 0) return;",
    "",
  ),
  mutant(
    "instances may come while their CRD goes",
    "verbs/create.ts",
    "if (!definition.terminating) return;",
    "return;",
  ),
  mutant(
    "conversion may rename objects",
    "crd/conversion.ts",
    "if (expected !== got) throw fail(",
    "if (expected === got && !got) throw fail(",
  ),
  mutant("a scale goes below nought", "verbs/scale.ts", "if (replicas < 0) {", "if (replicas < -9) {"),
  mutant(
    "a scale belongs to nobody",
    "verbs/scale.ts",
    "if (managedFields) scaled.metadata.managedFields = managedFields;",
    "if (managedFields) scaled.metadata.managedFields = parent.metadata.managedFields!;",
  ),
];
