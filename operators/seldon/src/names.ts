import { createHash } from "node:crypto";
import type { Predictor, SeldonDeployment } from "./seldon-deployment.ts";

/** Labels by which upstream's own tools, dashboards and meshes find what belongs to a SeldonDeployment. */
export const DEPLOYMENT_ID = "seldon-deployment-id";
export const SELDON_APP = "seldon-app";
export const MANAGED_BY = { "app.kubernetes.io/managed-by": "seldon-core" };

/** The predictor's annotation that names its Service. */
const SERVICE_NAME = "seldon.io/svc-name";

/** Names of objects and values of labels end at 63 characters: longer ones become a hash. */
function fitting(name: string): string {
  return name.length > 63 ? `seldon-${createHash("md5").update(name).digest("hex")}` : name;
}

export function idOf({ metadata }: SeldonDeployment): string {
  return fitting(metadata.name);
}

/** The Service in front of a predictor, and what its pods are found by. */
export function predictorName({ metadata }: SeldonDeployment, { name, annotations }: Predictor): string {
  return annotations?.[SERVICE_NAME] ?? fitting(`${metadata.name}-${name}`);
}

/** The Service of one container of a graph. */
export function containerServiceName({ metadata }: SeldonDeployment, predictor: Predictor, container: string): string {
  return fitting(`${metadata.name}-${predictor.name}-${container}`);
}

/** The label by which that Service finds its pods. */
export function containerServiceLabel(container: string): string {
  return `seldon-app-svc-${container}`;
}

/** The Deployment of one component of a predictor; `last` is the component's name, or those of its containers. */
export function deploymentName(
  { metadata }: SeldonDeployment,
  predictor: Predictor,
  index: number,
  last: string,
): string {
  return fitting(`${metadata.name}-${predictor.name}-${index}-${last}`);
}

/** The Deployment and the Service of a predictor's explainer. */
export function explainerName({ metadata }: SeldonDeployment, predictor: Predictor): string {
  return fitting(`${metadata.name}-${predictor.name}-explainer`);
}

export function orchestratorName({ metadata }: SeldonDeployment, predictor: Predictor): string {
  return fitting(`${metadata.name}-${predictor.name}-svc-orch`);
}
