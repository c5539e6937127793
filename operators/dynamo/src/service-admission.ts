import type { FieldError } from "konverge";
import { admissionWebhook, fieldInvalid, fieldRequired } from "konverge/webhooks";
import { DynamoComponentDeployment } from "./component-deployment.ts";
import { compilationCache } from "./engine.ts";
import type { Service } from "./service-spec.ts";

/** What a CRD's schema cannot say about a service, wherever it is written down. */
export function serviceErrors(path: string, service: Written): FieldError[] {
  const { autoscaling, pvc, multinode } = service;
  const errors: FieldError[] = [];
  if (autoscaling && autoscaling.minReplicas > autoscaling.maxReplicas) {
    errors.push(fieldInvalid(`${path}.autoscaling.minReplicas`, autoscaling.minReplicas, "is more than maxReplicas"));
  }
  if (multinode && autoscaling?.enabled) {
    errors.push(fieldInvalid(`${path}.autoscaling`, true, "cannot be combined with multinode"));
  }
  if (pvc && !pvc.create && !pvc.name) {
    errors.push(fieldRequired(`${path}.pvc.name`, "names the existing claim"));
  }
  if (pvc?.mountPoint && pvc.mountPath && pvc.mountPoint !== pvc.mountPath) {
    errors.push(
      fieldInvalid(`${path}.pvc.mountPath`, pvc.mountPath, "is another name of mountPoint: give one of them"),
    );
  }
  const { gpuMemoryService, extraPodSpec } = service;
  for (const name of gpuMemoryService?.extraClientContainers ?? []) {
    if (!extraPodSpec?.containers?.some((one) => one.name === name))
      errors.push(
        fieldInvalid(`${path}.gpuMemoryService.extraClientContainers`, name, "is not a container of the pod template"),
      );
  }
  errors.push(...mountErrors(path, service), ...sidecarErrors(path, service), ...pickerErrors(path, service));
  return errors;
}

function mountErrors(path: string, { volumeMounts = [], backendFramework }: Written): FieldError[] {
  return volumeMounts.flatMap(({ mountPoint, useAsCompilationCache }, index) => {
    const hasDefault = useAsCompilationCache && compilationCache(backendFramework ?? "vllm").path !== undefined;
    if (mountPoint || hasDefault) return [];
    return [fieldRequired(`${path}.volumeMounts[${index}].mountPoint`, "the path of the claim in the container")];
  });
}

function sidecarErrors(path: string, { frontendSidecar, extraPodSpec }: Service): FieldError[] {
  const { container, image } = frontendSidecar ?? {};
  if (!frontendSidecar || image) return [];
  if (!container) return [fieldRequired(`${path}.frontendSidecar.image`, "the frontend's image")];
  if (extraPodSpec?.containers?.some(({ name }) => name === container)) return [];
  return [fieldInvalid(`${path}.frontendSidecar`, container, "is not a container of the pod template")];
}

function pickerErrors(path: string, { componentType, eppConfig }: Service): FieldError[] {
  if (componentType !== "epp")
    return eppConfig ? [fieldInvalid(`${path}.eppConfig`, "…", "is for the component type epp")] : [];
  if (eppConfig && Boolean(eppConfig.configMapRef) !== Boolean(eppConfig.config)) return [];
  return [fieldRequired(`${path}.eppConfig`, "an endpoint picker needs either configMapRef or config")];
}

type Written = Service & Pick<DynamoComponentDeployment["spec"], "backendFramework">;

/** Rejects components that could never run: those that a user writes have passed no graph's admission. */
export const componentAdmission = () =>
  admissionWebhook(DynamoComponentDeployment, { validate: ({ spec }) => serviceErrors("spec", spec) });
