import { onEmbedded } from "@konverge/operator-suite";
import { adoptsVolumes, namesTheVolume } from "./adoption-scenarios.ts";
import { fencesItself, outlivesOperator, singleKeepsRunning, waitsForFence } from "./fence-scenarios.ts";
import {
  comesBack,
  failsOver,
  growsWhenFull,
  hasCompany,
  namesThePrimary,
  namesThePromoted,
  replacesPrimary,
  replicates,
  reportsNoStandbys,
  rollsOut,
  rotates,
  stopsSlowly,
  switchesOver,
} from "./replica-scenarios.ts";
import { reportsFullVolume } from "./volume-scenarios.ts";
import { reportsGaps } from "./window-scenarios.ts";

onEmbedded("a primary with its standbys, each of which is found by its Service", replicates);
onEmbedded("another server becomes the primary on request, and nothing is lost", switchesOver);
onEmbedded("a lost node: a standby takes over, nothing acknowledged is lost, the old primary follows", failsOver);
onEmbedded(
  "a lost node without synchronous standbys: the primary fences itself, then another is promoted",
  fencesItself,
);
onEmbedded(
  "without standbys that confirm, no standby is promoted unless it is allowed and the old primary has no contact",
  waitsForFence,
);
onEmbedded("while the operator is away, a primary stops only without contact to a standby", outlivesOperator);
onEmbedded("a server without standbys keeps running while the operator is away", singleKeepsRunning);
onEmbedded("a primary that is back in time leads on", comesBack);
onEmbedded(
  "another version goes to standbys first, and to the old primary last; another major one is refused",
  rollsOut,
);
onEmbedded("a new password is set before it is published; a deleted Secret is recreated", rotates);
onEmbedded("volumes that are nearly full grow up to their limit", growsWhenFull);
onEmbedded("nothing is reported of standbys when there are none any more", reportsNoStandbys);
onEmbedded("poolers, exporters, and what Prometheus scrapes", hasCompany);
onEmbedded("a primary that finds no node is replaced, and follows when it is back", replacesPrimary);
onEmbedded("servers that stop slowly hand over once", stopsSlowly);
onEmbedded("the primary is named when it is one, and it is said whether another would replace it", namesThePrimary);
onEmbedded("a standby that is promoted slowly is named as soon as it leads", namesThePromoted);
onEmbedded("a Database that is applied again leads on with the data of the server that led last", adoptsVolumes);
onEmbedded("volumes that do not show which server led last: nothing starts until the user names one", namesTheVolume);
onEmbedded("the volume of a single server with defaults is reported when it is nearly full", reportsFullVolume);
onEmbedded("WAL that is missing in the archive is reported within a minute, and a base backup follows", reportsGaps);
