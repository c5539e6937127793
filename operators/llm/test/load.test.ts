import { onEmbedded } from "@konverge/operator-suite";
import { follows, risesAndFalls } from "./load-scenarios.ts";

onEmbedded("replicas follow the load, the SLA holds, and the size does not flap", follows);
onEmbedded("more load takes more replicas, less load takes fewer", risesAndFalls);
