import { ApiError, type ApiResponse, conflict, methodNotAllowed, notFound, timestamp } from "@konverge/core";
import { builtinSchema } from "@konverge/kinds";
import { notSupported, required } from "@konverge/schema";
import { type Call, currentEntry, strategyContext } from "../call/call.ts";
import { typedCodec } from "../codec/typed.ts";
import type { WorkingObject } from "../codec/working-object.ts";
import { writeParameters } from "../http/query.ts";
import { bodyResponse } from "../representation/answer.ts";
import { contentOf, objectOf, storageKey } from "../resources/stored-object.ts";
import { readBodyAs } from "../verbs/body.ts";
import { checkName, matchNamespace } from "../verbs/metadata.ts";

const BINDING = { group: "", version: "v1", kind: "Binding" };
const codec = typedCodec("core.v1.Binding", BINDING, () => builtinSchema("", "v1", "Binding"));

interface Binding extends WorkingObject {
  target: { kind?: string; name?: string };
}

interface BoundPod extends WorkingObject {
  spec: { nodeName?: string; schedulingGates?: unknown[] };
  status?: { conditions?: { type: string }[]; nominatedNodeName?: string };
}

/** A binding that is posted to `bindings`: the pod is the one it names. */
export async function createBinding(given: Call): Promise<ApiResponse> {
  const { fieldValidation } = writeParameters(given.info.query, "CreateOptions");
  const { name = "" } = readBodyAs(given, { ...BINDING, codec }, fieldValidation).metadata;
  const definition = given.registry.get("", "pods")!;
  return bindPod({ ...given, definition, info: { ...given.info, name } });
}

/** Gives a pod to a node: what a scheduler does. It goes past the rules for updates, which forbid just that. */
export async function bindPod(given: Call): Promise<ApiResponse> {
  if (given.info.verb !== "create") throw methodNotAllowed(given.definition, given.info.verb);
  const { dryRun, fieldValidation } = writeParameters(given.info.query, "CreateOptions");
  const call = { ...given, dryRun };
  const binding = readBodyAs(call, { ...BINDING, codec }, fieldValidation) as Binding;
  matchNamespace(call, binding.metadata);
  checkName(call, binding.metadata);
  const admitted = ((await call.admission.mutate(call, binding, undefined, "CREATE")) ?? binding) as Binding;
  checkTarget(admitted);
  await call.admission.validate(call, admitted, undefined, "CREATE");
  assign(call, admitted);
  await call.store.durable();
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
  return bodyResponse(201, status as unknown as WorkingObject, call.form);
}

/** A real server has no better answer than 500 to a binding that makes no sense. */
function checkTarget({ target }: Binding): void {
  const errors = [
    ...(target.kind && target.kind !== "Node" ? [notSupported("target.kind", target.kind, ["Node", "<empty>"])] : []),
    ...(target.name ? [] : [required("target.name")]),
  ].map(({ field, message }) => `${field}: ${message}`);
  if (errors.length === 0) return;
  throw new ApiError({ code: 500, message: errors.length === 1 ? errors[0]! : `[${errors.join(", ")}]` });
}

function assign(call: Call, binding: Binding): void {
  const { definition, store, info } = call;
  const entry = currentEntry(call);
  if (!entry) throw notFound(definition, info.name);
  const pod = objectOf(entry) as BoundPod;
  const refuse = (why: string) => conflict({ group: definition.group, plural: "pods/binding" }, info.name, why);
  const { uid, resourceVersion } = binding.metadata;
  if (uid && uid !== pod.metadata.uid) {
    throw refuse(`Precondition failed: UID in precondition: ${uid}, UID in object meta: ${pod.metadata.uid}`);
  }
  if (resourceVersion && resourceVersion !== pod.metadata.resourceVersion) {
    throw refuse(
      `Precondition failed: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${pod.metadata.resourceVersion}`,
    );
  }
  if (pod.metadata.deletionTimestamp) throw refuse(`pod ${info.name} is being deleted, cannot be assigned to a host`);
  if (pod.spec.nodeName) throw refuse(`pod ${info.name} is already assigned to node "${pod.spec.nodeName}"`);
  if (pod.spec.schedulingGates?.length) throw refuse(`pod ${info.name} has non-empty .spec.schedulingGates`);
  pod.spec.nodeName = binding.target.name!;
  const { annotations, labels } = binding.metadata;
  if (annotations) pod.metadata.annotations = { ...pod.metadata.annotations, ...annotations };
  if (labels) pod.metadata.labels = { ...pod.metadata.labels, ...labels };
  const scheduled = {
    type: "PodScheduled",
    status: "True",
    lastProbeTime: null,
    lastTransitionTime: timestamp(call.clock),
  };
  const others = pod.status?.conditions?.filter(({ type }) => type !== "PodScheduled") ?? [];
  const { nominatedNodeName: _hint, ...status } = pod.status ?? {};
  pod.status = { ...status, conditions: [...others, scheduled] };
  if (call.dryRun) return;
  store.put(definition.storage, storageKey(definition, info.namespace, info.name), contentOf(definition, pod));
  definition.strategy.afterWrite?.(pod, objectOf(entry), strategyContext(call));
}
