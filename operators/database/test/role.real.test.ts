import { databaseOperator } from "@konverge/database-operator";
import { onReal } from "@konverge/operator-suite";
import { issued } from "./certificate-scenarios.ts";
import { cannotGrow, nameTaken, restoreGivenUp, startedByHand } from "./rare-scenarios.ts";
import { bootstraps, restoresInPlace } from "./recovery-scenarios.ts";
import { hasCompany, switchesOverOnce } from "./replica-scenarios.ts";
import { encrypted } from "./scenarios.ts";
import { upgradesOnce } from "./upgrade-scenarios.ts";

// Together they take all that the operator is allowed to do.
onReal(
  {
    "poolers, exporters, and what Prometheus scrapes": hasCompany,
    "servers have certificates of a dedicated authority, or the user's": encrypted,
    "cert-manager issues the certificate of servers, if an issuer is named": issued,
    "another server becomes the primary on request, and nothing is lost": switchesOverOnce,
    "a restore in place replaces data while no server runs": restoresInPlace,
    "a new database begins with a backup": bootstraps,
    "scheduled backups get DatabaseBackups, and expire": startedByHand,
    "volumes that cannot grow keep their size, and that is reported": cannotGrow,
    "the data are upgraded to another major version": upgradesOnce,
    "a restore that is given up leaves what was there": restoreGivenUp,
    "a Job of another's with a backup's name is left alone": nameTaken,
  },
  { role: databaseOperator },
);
