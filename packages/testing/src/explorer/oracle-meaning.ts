/** What a finding of each oracle means, as the guide has it. */
export const ORACLE_MEANINGS: Readonly<Record<string, string>> = {
  "end state": "the objects at the end are not those of a run without faults, or a wait of the scenario timed out",
  leak: "an object is there that should not be: leaked, duplicated or resurrected",
  idle: "the operator writes, or sends many requests, although nothing changes",
  "write storm": "many times more writes than without faults",
  "data loss": "the operator deleted a volume claim, volume or Secret that it keeps without faults",
  ownership: "an object was adopted from an owner that no longer exists, or its owner is not in its namespace",
  finalizer: "a deleted object is held by a finalizer that is never removed",
  status:
    "a status has an observedGeneration that does not exist, or that is behind at the end; or it is Ready, and its phase or a condition is Failed",
  "ready too early": "an object was ready, by the rules of kstatus, before its children were",
  "unhandled error": "a promise was rejected and nothing handled it",
  "external state":
    "the resources of an external system are not those of a run without faults: one is missing, or was made twice",
  "external leak": "such a resource outlives the object that it was made for",
  "external call after deletion": "such a resource was changed for an object that was gone",
  rbac: "a request was forbidden",
  scenario: "an assertion of your scenario failed",
  invariant: "one of your invariants did not hold",
};
