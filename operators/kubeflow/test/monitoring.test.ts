import { kubeflowOperator } from "@konverge/kubeflow-operator";
import { monitoringIsTrue } from "@konverge/operator-suite";

monitoringIsTrue(kubeflowOperator, new URL("../monitoring/", import.meta.url));
