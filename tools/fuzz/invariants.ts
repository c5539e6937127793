import type { FuzzRequest } from "./requests.ts";
import { type Answer, isStream } from "./send.ts";

/** Answers 500 that a real API server gives in the same words: errors that it has no other status for. */
const ALSO_OF_KUBERNETES: readonly RegExp[] = [
  // Of a get and a watch; a list answers 400.
  /resourceVersion: Invalid value: /,
  // An object with a version, where it is created, and one with a version that is none, where it is updated.
  /"message":"resourceVersion should not be set on objects to be created"/,
  /"message":"strconv\.ParseUint: parsing /,
  // An object that apply cannot read with the schema, and one with values that do not fit their types.
  /failed to create typed patch object /,
  /failed to convert new object .* to proper version: unable to convert unstructured object to /,
  // The scale of a custom resource without replicas.
  /the spec replicas field .* does not exist/,
  // Bindings.
  /(metadata|target)\.[a-zA-Z]+: (Required value|Unsupported value|Invalid value)/,
  // Strategic merge patches whose lists, keys or directives do not fit.
  /unknown patch type: |does not contain declared merge key|expected a (map\[string\]|\[\])interface \{\}|unexpected slice of slice/,
  /merging (an object in json|lists cannot)|unable to find api field in struct|expected slice or array type|cannot merge lists/,
  /list element types are not identical|no elements in any of the given slices/,
];

/** Whether an answer is a failure of the server. */
export function isFailure({ status, text }: Answer): boolean {
  return status === 500 && !ALSO_OF_KUBERNETES.some((message) => message.test(text));
}

/** What no request may take of the server's main thread, and what each byte of it and of its answer may take besides. */
const BASE_CPU_MS = 250;
const CPU_MS_PER_BYTE = 0.0005;
/** Beyond this, what a request costs is measured: until then it is the machine's time, which others use. */
const SUSPICIOUS_MS = 1000;

/** Not 504, for which the server waits as long as it was asked to or as it does for a later revision; not streams. */
export function isTimed(request: FuzzRequest, { status }: Answer): boolean {
  return status !== 504 && !isStream(request);
}

/** Whether an answer took so long that what it costs is to be measured, alone. */
export function isSuspicious(request: FuzzRequest, answer: Answer): boolean {
  return isTimed(request, answer) && answer.ms > SUSPICIOUS_MS;
}

/** Whether a request held the server's main thread for longer than its size and that of its answer explain. */
export function isTooExpensive(request: FuzzRequest, { bytes }: Answer, cpuMs: number): boolean {
  const size = request.headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  return cpuMs > BASE_CPU_MS + (request.body.length + request.target.length + size + bytes) * CPU_MS_PER_BYTE;
}
