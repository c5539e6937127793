import { onEmbedded } from "@konverge/operator-suite";
import { noNodes, pastAdmission, quota, refused, stuck, unmakeable } from "./bad-input-scenarios.ts";
import { KINDS } from "./jobs.ts";

onEmbedded("what is wrong is refused, and the message says where", refused);
for (const kind of KINDS) {
  onEmbedded(
    `a ${kind.kind.kind} without room, GPUs of its type, a claim or an image says so, and goes on`,
    stuck(kind),
  );
}
onEmbedded("without nodes jobs of all kinds wait, and run when one comes", noNodes, { nodes: [] });
onEmbedded("a quota that is exceeded is told, and waited for", quota);
onEmbedded("pods that cannot be made are told, and made when they can", unmakeable);
onEmbedded("a job that came past admission says what is wrong with it", pastAdmission);
