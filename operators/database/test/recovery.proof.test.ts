import { databaseOperator } from "@konverge/database-operator";
import { survivesCrashes } from "@konverge/operator-suite";
import { bootstraps, onDemand, restoreFails, restoresInPlace } from "./recovery-scenarios.ts";

// Jobs carry their own uid in labels.
const mask = {
  mask: <T extends object>(object: T): T =>
    JSON.parse(JSON.stringify(object).replaceAll(/"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"/g, '"uid"')) as T,
};

survivesCrashes("a backup is taken once, whenever the operator dies", databaseOperator, onDemand, mask);
survivesCrashes("data are restored in place, whenever the operator dies", databaseOperator, restoresInPlace, mask);
survivesCrashes("a failed restore is undone, whenever the operator dies", databaseOperator, restoreFails, mask);
survivesCrashes("a database begins with a backup, whenever the operator dies", databaseOperator, bootstraps, mask);
