import { onReal } from "@konverge/operator-suite";
import { quota, refused } from "./bad-input-scenarios.ts";
import { aPyTorchJob, elastic } from "./lifecycle-scenarios.ts";
import { aFullLife, lostLabels } from "./survival-scenarios.ts";

onReal({
  "a PyTorchJob runs under upstream's names, labels and variables": aPyTorchJob,
  "an elastic PyTorchJob has an autoscaler and can be scaled": elastic,
  "a job lives, rests and ends": aFullLife,
  "what is wrong is refused, and the message says where": refused,
  "a quota that is exceeded is told, and waited for": quota,
  "a pod that lost its labels is replaced": lostLabels,
});
