import { Pod } from "@konverge/kinds";
import { deployments } from "../controllers/deployment/deployment-controller.ts";
import { garbageCollector } from "../controllers/garbage-collector/garbage-collector.ts";
import { namespaces } from "../controllers/namespace/namespace-controller.ts";
import { replicaSets, replicationControllers } from "../controllers/replica-set.ts";
import { kubelet } from "../kubelet/pods.ts";
import { controllersPart, type Part } from "./part.ts";

/** All parts of the control plane besides the API server, and the nodes. */
export const PARTS: readonly Part[] = [
  garbageCollector,
  namespaces,
  deployments,
  replicaSets,
  replicationControllers,
  controllersPart("kubelet", [Pod], () => [kubelet], { fieldManager: "kubelet" }),
];
