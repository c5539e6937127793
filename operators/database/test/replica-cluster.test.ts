import { onEmbedded } from "@konverge/operator-suite";
import { followsAnother, waitsForPasswords } from "./replica-cluster-scenarios.ts";

onEmbedded("a Database follows another one, is promoted when it has all of it, and is demoted", followsAnother);
onEmbedded(
  "a Database that follows another one needs its passwords, and never leads before it is promoted",
  waitsForPasswords,
);
