import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "@konverge/core";
import { isImmutable } from "./immutable.ts";

const refused = (message: string) => new ApiError({ code: 422, reason: "Invalid", message });

test("refusals of immutable fields are distinguished from other refusals, also when they come together", () => {
  assert.ok(isImmutable(refused("spec.selector: Invalid value: {}: field is immutable")));
  assert.ok(
    isImmutable(
      refused(
        "[spec.containers[0].resources.requests: Invalid value: must be less than or equal to memory limit, spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`]",
      ),
    ),
  );
  assert.ok(isImmutable(refused("spec.containers: Forbidden: pod updates may not add or remove containers")));
  assert.ok(!isImmutable(refused("spec.replicas: Invalid value: -1: must be greater than or equal to 0")));
});
