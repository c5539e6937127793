import { onEmbedded } from "@konverge/operator-suite";
import { declares } from "./declared-scenarios.ts";

onEmbedded("declared roles and databases are carried out, and failures are reported by name", declares);
