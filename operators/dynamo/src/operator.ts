import { type Operator, operator } from "konverge";
import { grantsOnly } from "konverge/rbac";
import { type FetchMetrics, fetchMetricsText } from "konverge/sizing";
import { durationMs } from "konverge/time";
import { GRANTED_RULES } from "./accounts.ts";
import { DynamoComponent } from "./component.ts";
import { dynamoComponents } from "./component-controller.ts";
import { DynamoComponentDeployment } from "./component-deployment.ts";
import { dynamoComponentDeployments } from "./component-deployment-controller.ts";
import type { Surroundings } from "./component-pod.ts";
import { graphAdmission } from "./graph-admission.ts";
import { dynamoGraphDeployments } from "./graph-controller.ts";
import { DynamoGraphDeployment } from "./graph-deployment.ts";
import { GraphMetrics } from "./graph-metrics.ts";
import { componentAdmission } from "./service-admission.ts";
import { DynamoWorkerMetadata } from "./worker-metadata.ts";

/** The operator with another way to pods' metrics: for tests, and for networks that need one. */
export const dynamoOperatorWith = (fetchMetrics: FetchMetrics): Operator =>
  operator({
    name: "dynamo-operator",
    description: "Deploys graphs of services that serve a model together.",
    kinds: [DynamoGraphDeployment, DynamoComponentDeployment, DynamoComponent, DynamoWorkerMetadata],
    connectsToPods: true,
    guards: [
      {
        resources: ["pods"],
        expression: `request.operation == "UPDATE" && object.spec == oldObject.spec`,
        limit: "changes only the metadata of pods",
      },
      ...grantsOnly(
        GRANTED_RULES,
        "what components of a graph need: to find each other, to scale it, to pick endpoints",
      ),
    ],
    settings: [
      {
        flag: "natsAddr",
        env: "NATS_ADDR",
        default: "",
        description: "Address of the NATS server, given to components. Empty: none.",
      },
      {
        flag: "etcdAddr",
        env: "ETCD_ADDR",
        default: "",
        description: "Address of the etcd server, given to components. Empty: they find each other by Kubernetes.",
      },
      {
        flag: "systemNamespace",
        env: "DYNAMO_SYSTEM_NAMESPACE",
        default: "dynamo",
        description: "Namespace of NATS and etcd, if their addresses have none.",
      },
      {
        flag: "defaultImage",
        env: "DYNAMO_DEFAULT_IMAGE",
        default: "nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.5.1",
        description: "The image of services that set none.",
      },
      {
        flag: "ingressHostSuffix",
        env: "DYNAMO_INGRESS_SUFFIX",
        default: "",
        description: "Domain suffix of Ingress hosts.",
      },
      {
        flag: "builderImage",
        env: "DYNAMO_BUILDER_IMAGE",
        default: "gcr.io/kaniko-project/executor:v1.24.0",
        description: "The image that builds images.",
      },
      {
        flag: "builderCommand",
        env: "DYNAMO_BUILDER_COMMAND",
        default: "",
        description: "Its command; default: the image's.",
      },
      {
        flag: "drainTimeout",
        env: "DYNAMO_DRAIN_TIMEOUT",
        default: "60s",
        description: "How long pods can finish their requests before they are scaled down.",
      },
    ],
    create({ settings, metrics }) {
      const given = (flag: string) => settings[flag] ?? "";
      const address = (flag: string) => inNamespace(given(flag), given("systemNamespace"));
      const around: Surroundings = {
        image: given("defaultImage"),
        natsAddress: address("natsAddr"),
        etcdAddress: address("etcdAddr"),
        ingressSuffix: given("ingressHostSuffix"),
      };
      return {
        controllers: [
          dynamoGraphDeployments(fetchMetrics, new GraphMetrics(metrics), around),
          dynamoComponentDeployments(around, { fetchMetrics, timeout: durationMs(given("drainTimeout")) }),
          dynamoComponents({ image: given("builderImage"), command: given("builderCommand") }),
        ],
        admissions: [graphAdmission(), componentAdmission()],
      };
    },
  });

/** Everything of this package in one: what `konverge run`, `install` and `deploy` take. */
export const dynamoOperator = dynamoOperatorWith(fetchMetricsText);

/** A bare Service name is one of the system namespace: `nats:4222` → `nats.dynamo:4222`. */
function inNamespace(address: string, namespace: string): string {
  return address.replace(/^((?:\w+:\/\/)?)([a-z0-9-]+)((?::\d+)?)$/, `$1$2.${namespace}$3`);
}
