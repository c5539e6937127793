import { Pod } from "@konverge/kinds";
import { CONTROLLERS } from "../controllers/controllers.ts";
import { kubelet } from "../kubelet/pods.ts";
import { controllersPart, type Part } from "./part.ts";

/** All parts of the control plane besides the API server, and the nodes. */
export const PARTS: readonly Part[] = [
  ...CONTROLLERS,
  controllersPart("kubelet", [Pod], () => [kubelet], { fieldManager: "kubelet" }),
];
