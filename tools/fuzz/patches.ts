import type { Random } from "@konverge/core";
import { cborBytes, jsonText, yamlText } from "./encodings.ts";
import { hostileName, hostileValue } from "./hostile-values.ts";
import { objectFor, type Subject } from "./objects.ts";

const OPERATIONS = ["add", "remove", "replace", "move", "copy", "test", "", "x"];
const POINTERS = [
  ...[
    "",
    "/",
    "/metadata",
    "/metadata/labels",
    "/metadata/labels/a~1b",
    "/metadata/labels/~2",
    "/metadata/annotations/x",
  ],
  ...[
    "/spec",
    "/spec/-",
    "/spec/containers/0",
    "/spec/containers/-1",
    "/spec/containers/99999999999",
    "/data",
    "/data/k",
    "/x/y/z",
  ],
  ...[
    "/metadata/managedFields",
    "/metadata/ownerReferences/-",
    "/metadata/finalizers/0",
    "/__proto__/x",
    "no-slash",
    "/0/0/0",
  ],
];

/** A patch of one of the types that a server takes, or of the one that it takes only with a feature. */
export function patchFor(random: Random, about: Subject): { type: string; body: Buffer } {
  const object = () => objectFor(random, about);
  switch (random.below(9)) {
    case 0:
    case 1:
      return { type: "application/json-patch+json", body: Buffer.from(jsonText(random, jsonPatch(random))) };
    case 2:
    case 3:
      return { type: "application/merge-patch+json", body: Buffer.from(jsonText(random, object())) };
    case 4:
    case 5:
      return {
        type: "application/strategic-merge-patch+json",
        body: Buffer.from(jsonText(random, strategic(random, object()))),
      };
    case 6:
      return { type: "application/apply-patch+cbor", body: cborBytes(object()) };
    default:
      return { type: "application/apply-patch+yaml", body: Buffer.from(yamlText(random, object())) };
  }
}

function jsonPatch(random: Random): unknown {
  if (random.below(10) === 0) return hostileValue(random);
  const length = random.below(20) === 0 ? 2 ** random.below(15) : 1 + random.below(6);
  const operation = () => {
    const one: Record<string, unknown> = { op: random.pick(OPERATIONS), path: random.pick(POINTERS) };
    if (random.below(2) === 0) one.from = random.pick(POINTERS);
    if (random.below(3) > 0) one.value = random.below(4) === 0 ? hostileValue(random) : random.pick(["v", 1, {}, []]);
    return one;
  };
  // Copies into themselves double with each operation.
  if (random.below(6) === 0) {
    const doubled = { op: "copy", from: "/metadata", path: "/metadata/annotations" };
    return Array.from({ length }, () => doubled);
  }
  return Array.from({ length }, operation);
}

/** Directives in places where they are, and where they are not, expected. */
function strategic(random: Random, object: unknown): unknown {
  if (object === null || typeof object !== "object" || Array.isArray(object) || random.below(2) === 0) return object;
  const directive = random.pick(["delete", "replace", "merge", "", 1, null]);
  const list = [
    { name: "c", $patch: directive },
    { $patch: directive },
    { $setElementOrder: [] },
    null,
    hostileValue(random),
  ];
  return {
    ...object,
    [random.pick(["spec", "metadata", "data", "$patch", hostileName(random)])]: random.pick([
      { $patch: directive, containers: list },
      { "$setElementOrder/containers": [{ name: "c" }, { name: 1 }, null], containers: list },
      { "$deleteFromPrimitiveList/finalizers": ["x", null, {}], finalizers: list },
      { $retainKeys: ["x", 1], ...{ x: 1 } },
      directive,
    ]),
  };
}
