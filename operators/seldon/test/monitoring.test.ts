import { monitoringIsTrue } from "@konverge/operator-suite";
import { seldonOperator } from "@konverge/seldon-operator";

monitoringIsTrue(seldonOperator, new URL("../monitoring/", import.meta.url));
