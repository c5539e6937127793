import { databaseOperator } from "@konverge/database-operator";
import { monitoringIsTrue } from "@konverge/operator-suite";

monitoringIsTrue(databaseOperator, new URL("../monitoring/", import.meta.url));
