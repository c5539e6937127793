import { monitoringIsTrue } from "@konverge/operator-suite";
import { rayOperator } from "@konverge/ray-operator";

monitoringIsTrue(rayOperator, new URL("../monitoring/", import.meta.url));
