import { onEmbedded } from "@konverge/operator-suite";
import { burst, comesDown, follows, risesAndFalls } from "./load-scenarios.ts";

onEmbedded("replicas follow the load, the SLA holds, and the size does not flap", follows);
onEmbedded("more load takes more replicas, less load takes fewer", risesAndFalls);
onEmbedded("after a burst the size comes down without a metrics adapter", comesDown);
onEmbedded("a burst does not make more replicas than its load takes, and one is left after it", burst);
