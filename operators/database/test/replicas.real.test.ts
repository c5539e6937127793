import { onReal } from "@konverge/operator-suite";
import { hasCompany, replacesPrimary, rollsOut, switchesOverOnce } from "./replica-scenarios.ts";

onReal({
  "another leads when somebody asks for it, and nothing is lost": switchesOverOnce,
  "a primary that finds no node is replaced, and follows when it is back": replacesPrimary,
  "another version goes to standbys first, and to the old primary last": rollsOut,
  "poolers, exporters, and what Prometheus is told": hasCompany,
});
