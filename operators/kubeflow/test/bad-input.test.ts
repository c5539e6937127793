import { onEmbedded } from "@konverge/operator-suite";
import { noNodes, pastAdmission, quota, refused, stuck, unmakeable } from "./bad-input-scenarios.ts";
import { AS_WRITTEN, KINDS } from "./jobs.ts";

onEmbedded("what is wrong is refused, and the message says where", refused, AS_WRITTEN);
for (const kind of KINDS) {
  onEmbedded(
    `a ${kind.kind.kind} without room, GPUs of its type, a claim or an image says so, and goes on`,
    stuck(kind),
    AS_WRITTEN,
  );
}
onEmbedded("without nodes jobs of all kinds wait, and run when one comes", noNodes, { nodes: [], ...AS_WRITTEN });
onEmbedded("an exceeded quota is reported, and the job waits for it", quota, AS_WRITTEN);
onEmbedded("pods that cannot be created are reported, and created once they can be", unmakeable, AS_WRITTEN);
onEmbedded("a job that came past admission says what is wrong with it", pastAdmission, AS_WRITTEN);
