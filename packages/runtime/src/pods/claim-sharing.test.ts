import assert from "node:assert/strict";
import { test } from "node:test";
import type { PersistentVolumeClaimSpec } from "@konverge/kinds";
import { claimSharing } from "./claim-sharing.ts";

test("the access modes of a claim say which pods can share its volume", () => {
  const sharing = (...accessModes: NonNullable<PersistentVolumeClaimSpec["accessModes"]>) =>
    claimSharing({ spec: { accessModes } });
  assert.equal(sharing("ReadWriteOnce"), "one-node");
  assert.equal(sharing("ReadWriteOncePod"), "one-pod");
  assert.equal(sharing("ReadWriteOnce", "ReadWriteMany"), "any-node");
  assert.equal(sharing("ReadOnlyMany"), "any-node");
});
