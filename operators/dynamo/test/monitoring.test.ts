import { dynamoOperator } from "@konverge/dynamo-operator";
import { monitoringIsTrue } from "@konverge/operator-suite";

monitoringIsTrue(dynamoOperator, new URL("../monitoring/", import.meta.url));
