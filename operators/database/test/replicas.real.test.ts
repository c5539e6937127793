import { onReal } from "@konverge/operator-suite";
import { rollsOut, switchesOverOnce } from "./replica-scenarios.ts";

onReal({
  "another leads when somebody asks for it, and nothing is lost": switchesOverOnce,
  "another version goes to standbys first, and to the old primary last": rollsOut,
});
