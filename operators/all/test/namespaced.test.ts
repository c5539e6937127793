import { onEmbedded } from "@konverge/operator-suite";
import { operators } from "@konverge/operators";
import { worksInNamespaces } from "./namespaced-scenario.ts";

for (const operator of operators) {
  onEmbedded(`${operator.name} works with Roles in single namespaces alone`, worksInNamespaces(operator), {
    strictImages: false,
    podSecurity: "privileged",
  });
}
