import { onReal } from "@konverge/operator-suite";
import { operators } from "@konverge/operators";
import { worksInNamespaces } from "./namespaced-scenario.ts";

/** Pods are rendered within seconds; more would only be waiting. */
const SOONER = (milliseconds: number) => milliseconds / 6;

onReal(
  Object.fromEntries(
    operators.map((operator) => [
      `${operator.name} works with Roles in single namespaces alone`,
      worksInNamespaces(operator, SOONER),
    ]),
  ),
  { podSecurity: "privileged" },
);
