import { onReal } from "@konverge/operator-suite";
import { rollsOut, switchesOverOnce } from "./replica-scenarios.ts";

onReal({
  "another server becomes the primary on request, and nothing is lost": switchesOverOnce,
  "another version goes to standbys first, and to the old primary last": rollsOut,
});
