import {
  ApiError,
  type ApiResponse,
  apiVersionOf,
  badRequest,
  conflict,
  deepCopy,
  formatLabelRequirements,
  invalid,
  type LabelSelector,
  notFound,
  requirementsOf,
  splitSimplePath,
  valueAt,
} from "@konverge/core";
import { builtinSchema } from "@konverge/kinds";
import { invalidValue } from "@konverge/schema";
import { parentManagedFields, type ReplicasPaths, scaleManagedFields } from "@konverge/schema/structured-merge";
import { type Call, currentEntry } from "../call/call.ts";
import { readEntry } from "../call/stored.ts";
import { typedCodec } from "../codec/typed.ts";
import type { WorkingObject } from "../codec/working-object.ts";
import { contentType } from "../http/bodies.ts";
import { writeParameters } from "../http/query.ts";
import { bodyResponse } from "../representation/answer.ts";
import { tableOf } from "../representation/table.ts";
import type { ResourceVersion } from "../resources/definition.ts";
import { readBodyAs } from "./body.ts";
import { recordUpdate } from "./managed-fields.ts";
import { checkName, matchNamespace } from "./metadata.ts";
import { APPLY_PATCH, patchChange } from "./patch.ts";
import { updateObject } from "./update.ts";

const SCALE = { group: "autoscaling", version: "v1", kind: "Scale" };
const SCALE_API_VERSION = apiVersionOf(SCALE);

const schema = () => builtinSchema(SCALE.group, SCALE.version, SCALE.kind);

/** The kind that a scale subresource speaks. */
const SCALE_VERSION: ResourceVersion = {
  ...SCALE,
  listKind: "ScaleList",
  verbs: ["get", "patch", "update"],
  get schema() {
    return schema();
  },
  codec: typedCodec("autoscaling.v1.Scale", SCALE, schema),
  subresources: new Map(),
  columns: [
    { name: "Name", type: "string", format: "name", priority: 0 },
    { name: "Desired", type: "integer", format: "", priority: 0 },
    { name: "Available", type: "integer", format: "", priority: 0 },
    { name: "Age", type: "string", format: "", priority: 0 },
  ],
  selectableFields: [],
};

/** Where a kind keeps what a Scale shows. */
interface Places {
  readonly spec: string[];
  readonly status: string[];
  readonly selector: string[] | undefined;
}

const BUILTIN_PLACES: Places = {
  spec: ["spec", "replicas"],
  status: ["status", "replicas"],
  selector: ["spec", "selector"],
};

/** Stands for a number of replicas that is not there, while a custom resource's Scale is being changed. */
const NONE = -(2 ** 31);

/** Answers requests to scale subresources, of built-in kinds and of custom resources alike. */
export async function scale(call: Call): Promise<ApiResponse> {
  if (call.info.verb !== "get") return update(call);
  const entry = currentEntry(call);
  if (!entry) throw notFound(call.definition, call.info.name);
  await call.store.durable();
  const parent = await readEntry(call, entry);
  if (call.definition.custom && !scaleOf(call, parent).found) {
    const why = `the spec replicas field ${JSON.stringify(call.version.scale!.specReplicasPath)} does not exist`;
    const message = `Internal error occurred: ${why}`;
    throw new ApiError({ code: 500, reason: "InternalError", message, details: { causes: [{ message: why }] } });
  }
  return scaleResponse(call, parent);
}

function scaleResponse(call: Call, parent: WorkingObject): ApiResponse {
  const { form } = call;
  const { scale: shown } = scaleOf(call, parent);
  if (form.target === "Table") {
    const metadata = { resourceVersion: shown.metadata.resourceVersion ?? "" };
    return bodyResponse(200, tableOf(asScaleCall(call), [shown], metadata), form);
  }
  return bodyResponse(200, SCALE_VERSION.codec.canonical(shown), form);
}

async function update(given: Call): Promise<ApiResponse> {
  const isPut = given.info.verb === "update";
  const apply = contentType(given.request) === APPLY_PATCH;
  const parameters = writeParameters(given.info.query, isPut ? "UpdateOptions" : "PatchOptions", { apply });
  const call: Call = { ...given, dryRun: parameters.dryRun };
  const ofScale = asScaleCall(call);
  const draft = isPut
    ? readBodyAs(ofScale, { ...SCALE, codec: SCALE_VERSION.codec }, parameters.fieldValidation)
    : undefined;
  if (draft) {
    matchNamespace(call, draft.metadata);
    checkName(call, draft.metadata);
  }
  const change = draft ? () => draft : patchChange(ofScale, parameters);
  const places = replicasPaths(call);
  const written = await updateObject(
    call,
    async (parent) => {
      const { scale: old, found } = scaleOf(call, parent);
      const managedFields = scaleManagedFields(parent.metadata.managedFields, places);
      const live: WorkingObject = { ...old, metadata: { ...old.metadata, ...(managedFields && { managedFields }) } };
      if (!found && call.definition.custom) (live["spec"] as { replicas: number }).replicas = NONE;
      const changed = await change(live);
      const owned = !isPut && apply ? changed : await recordUpdate(ofScale, live, changed);
      const admitted = (await call.admission.mutate(ofScale, owned, live, "UPDATE")) ?? owned;
      check(call, parent, admitted);
      return scaledParent(call, parent, admitted, places);
    },
    {
      uid: draft?.metadata.uid,
      ownership: false,
      admission: (object, parent) =>
        call.admission.validate(ofScale, scaleOf(call, object).scale, scaleOf(call, parent).scale, "UPDATE"),
    },
  );
  await call.store.durable();
  return scaleResponse(call, written.entry ? await readEntry(call, written.entry) : written.object);
}

/** The same request, as one about Scales. */
function asScaleCall(call: Call): Call {
  const { definition } = call;
  const strategy = {};
  const scaleDefinition = { ...definition, custom: false, strategy, storedAs: SCALE_API_VERSION };
  return { ...call, version: SCALE_VERSION, definition: { ...scaleDefinition, group: SCALE.group } };
}

function placesOf({ version }: Call): Places {
  if (!version.scale) return BUILTIN_PLACES;
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = version.scale;
  return {
    spec: splitSimplePath(specReplicasPath),
    status: splitSimplePath(statusReplicasPath),
    selector: labelSelectorPath ? splitSimplePath(labelSelectorPath) : undefined,
  };
}

/** By apiVersion, where the replicas are that a manager may own. */
function replicasPaths({ definition }: Call): ReplicasPaths {
  return Object.fromEntries(
    [...definition.versions.values()].map((version) => {
      const path = definition.custom ? version.scale?.specReplicasPath : ".spec.replicas";
      const fields = path === undefined ? null : splitSimplePath(path).map((name) => `f:${name}`);
      return [apiVersionOf({ group: definition.group, version: version.version }), fields];
    }),
  );
}

/** The Scale of an object, and whether the object says how many replicas it wants. */
function scaleOf(call: Call, parent: WorkingObject): { scale: WorkingObject; found: boolean } {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = parent.metadata;
  const { spec, status, selector } = placesOf(call);
  const replicas = valueAt(parent, spec);
  const text = selector && selectorText(valueAt(parent, selector));
  const scale = {
    kind: SCALE.kind,
    apiVersion: SCALE_API_VERSION,
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp } as WorkingObject["metadata"],
    spec: { replicas: Number(replicas ?? 0) },
    status: { replicas: Number(valueAt(parent, status) ?? 0), ...(text && { selector: text }) },
  };
  return { scale, found: replicas !== undefined };
}

function replicasOf(scale: WorkingObject): number {
  return (scale["spec"] as { replicas?: number } | undefined)?.replicas ?? 0;
}

/** Custom resources have the text itself, built-in kinds a selector object, ReplicationControllers plain labels. */
function selectorText(selector: unknown): string {
  if (typeof selector !== "object" || selector === null) return typeof selector === "string" ? selector : "";
  const isObject = "matchLabels" in selector || "matchExpressions" in selector;
  const matchLabels = selector as Record<string, string>;
  return formatLabelRequirements(requirementsOf(isObject ? (selector as LabelSelector) : { matchLabels }));
}

function check(call: Call, parent: WorkingObject, scale: WorkingObject): void {
  const { definition, info, version } = call;
  const replicas = replicasOf(scale);
  if (definition.custom) {
    if (replicas === NONE) {
      throw badRequest(`the spec replicas field ${JSON.stringify(version.scale!.specReplicasPath)} cannot be empty`);
    }
    return;
  }
  if (replicas < 0) {
    const error = invalidValue("spec.replicas", replicas, "must be greater than or equal to 0");
    throw invalid({ group: SCALE.group, kind: SCALE.kind }, info.name, [error]);
  }
  const { uid } = scale.metadata;
  if (uid && uid !== parent.metadata.uid) {
    const subject = { group: definition.group, plural: `${definition.plural}/scale` };
    const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${parent.metadata.uid}`;
    throw conflict(subject, info.name, why);
  }
}

function scaledParent(call: Call, parent: WorkingObject, scale: WorkingObject, places: ReplicasPaths): WorkingObject {
  const { definition, version } = call;
  const scaled = deepCopy(parent);
  const names = placesOf(call).spec;
  let at: Record<string, unknown> = scaled;
  for (const name of names.slice(0, -1)) {
    at[name] ??= {};
    at = at[name] as Record<string, unknown>;
  }
  at[names.at(-1)!] = replicasOf(scale);
  // What this may have created has other defaults.
  if (definition.custom) version.codec.applyDefaults(scaled);
  const { resourceVersion } = scale.metadata;
  if (resourceVersion || !definition.custom) scaled.metadata.resourceVersion = resourceVersion ?? "";
  const apiVersion = apiVersionOf({ group: definition.group, version: version.version });
  const managedFields = parentManagedFields(
    parent.metadata.managedFields,
    scale.metadata.managedFields,
    apiVersion,
    places,
  );
  if (managedFields) scaled.metadata.managedFields = managedFields;
  else delete scaled.metadata.managedFields;
  return scaled;
}
