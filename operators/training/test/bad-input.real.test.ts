import { onReal } from "@konverge/operator-suite";
import * as badInput from "./bad-input-scenarios.ts";

onReal({
  "jobs that make no sense are refused": badInput.nonsenseIsRefused,
  "a claim that does not exist is named": badInput.aClaimIsMissing,
  "a quota that is too small is named": badInput.aQuotaIsExceeded,
  "a type of GPU that no node has keeps a job from starting": badInput.anUnknownGpuType,
  "a pod of somebody else's is left alone": badInput.aNameIsTaken,
});
