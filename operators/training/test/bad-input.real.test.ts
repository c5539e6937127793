import { onEmptyCluster, onReal } from "@konverge/operator-suite";
import * as badInput from "./bad-input-scenarios.ts";

onReal({
  "jobs that make no sense are refused": badInput.nonsenseIsRefused,
  "a claim that does not exist is named": badInput.aClaimIsMissing,
  "a ConfigMap that does not exist is waited for, and followed": badInput.aConfigMapIsMissing,
  "a quota that is too small is named": badInput.aQuotaIsExceeded,
  "a type of GPU that no node has keeps a job from starting": badInput.anUnknownGpuType,
  "a size that no node has keeps a job from starting": badInput.anImpossibleSize,
  "an image that cannot be pulled is named": badInput.anImageIsMissing,
  "a pod of somebody else's is left alone": badInput.aNameIsTaken,
  "without nodes a job waits, and runs when one comes": onEmptyCluster(badInput.thereAreNoNodes),
});
