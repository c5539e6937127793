import { onEmbedded } from "@konverge/operator-suite";
import { pastAdmission, quota, refused, stuck, unmakeable } from "./bad-input-scenarios.ts";
import { KINDS } from "./jobs.ts";

onEmbedded("what is wrong is refused, and the message says where", refused);
for (const kind of KINDS) {
  onEmbedded(`a ${kind.kind.kind} for which there is no node says so, and goes on when it is mended`, stuck(kind));
}
onEmbedded("a quota that is exceeded is told, and waited for", quota);
onEmbedded("pods that cannot be made are told, and made when they can", unmakeable);
onEmbedded("a job that came past admission says what is wrong with it", pastAdmission);
