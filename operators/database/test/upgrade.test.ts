import { onEmbedded } from "@konverge/operator-suite";
import { givesUpStarting, returnsFromUpgrade, upgradesInPlace } from "./upgrade-scenarios.ts";

onEmbedded("another major version: the primary's data are upgraded, and standbys copy them", upgradesInPlace);
onEmbedded("a major upgrade that fails goes back to the old version, and can be tried again", returnsFromUpgrade);
onEmbedded("servers that do not become ready with the new version go back to the old one", givesUpStarting);
