import assert from "node:assert/strict";
import { test } from "node:test";
import { gatedFields, gatesOff } from "./feature-gates.ts";

test("the last setting of a gate up to the version decides whether it is off", () => {
  const list = `- name: Later
  versionedSpecs:
  - default: false
    lockToDefault: false
    preRelease: Alpha
    version: "1.34"
  - default: true
    lockToDefault: false
    preRelease: Beta
    version: "1.36"
- name: Always
  versionedSpecs:
  - default: true
    lockToDefault: true
    preRelease: GA
    version: "1.30"
`;
  assert.deepEqual([...gatesOff(list, 33)], []);
  assert.deepEqual([...gatesOff(list, 35)], ["Later"]);
  assert.deepEqual([...gatesOff(list, 36)], []);
});

test("a field has the gates of the comment above it", () => {
  const source = `type Spec struct {
	// One.
	// +featureGate=A
	// +optional
	One *string \`json:"one,omitempty"\`

	// +featureGate=B

	Two string \`json:"two"\`
}
`;
  assert.deepEqual(gatedFields(source), [{ field: "Spec.one", gate: "A" }]);
});
