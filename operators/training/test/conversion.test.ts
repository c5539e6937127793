import { onEmbedded } from "@konverge/operator-suite";
import { bothVersionsAreServed } from "./conversion-scenarios.ts";

onEmbedded("one job is served in both versions, whichever it was written in", bothVersionsAreServed);
