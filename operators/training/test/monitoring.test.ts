import { monitoringIsTrue } from "@konverge/operator-suite";
import { trainingOperator } from "@konverge/training-operator";

monitoringIsTrue(trainingOperator, new URL("../monitoring/", import.meta.url));
