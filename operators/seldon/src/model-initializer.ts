import type { Container, Volume, VolumeMount } from "konverge/kinds";
import type { Unit } from "./seldon-deployment.ts";

/** Where a unit's container finds its model. */
export const MODEL_FOLDER = "/mnt/models";

const CLAIM_VOLUME = "kfserving-pvc-source";
const CLAIM_FOLDER = "/mnt/pvc";

/** What brings a model into a pod before its container starts. */
export interface ModelSupply {
  readonly initContainer: Container;
  readonly volumes: readonly Volume[];
  /** Mounts of the container that serves the model. */
  readonly mounts: readonly VolumeMount[];
}

/** What says where a model is: a unit, or an explainer. */
type Supplied = Pick<Unit, "name" | "modelUri" | "envSecretRefName" | "storageInitializerImage">;

/** The way of a model from its URI to the unit's container; undefined if the unit has none. */
export function modelSupply(unit: Supplied, defaultImage: string): ModelSupply | undefined {
  const { modelUri, envSecretRefName } = unit;
  if (!modelUri) return undefined;
  const claim = /^pvc:\/\/([^/]+)\/?(.*)$/.exec(modelUri);
  const volume = clipped(`${unit.name}-provision-location`);
  const claimMount: VolumeMount[] = claim ? [{ name: CLAIM_VOLUME, mountPath: CLAIM_FOLDER, readOnly: true }] : [];
  return {
    initContainer: {
      name: clipped(`${unit.name}-model-initializer`),
      image: unit.storageInitializerImage ?? defaultImage,
      imagePullPolicy: "IfNotPresent",
      args: [claim ? `${CLAIM_FOLDER}/${claim[2]}` : modelUri, MODEL_FOLDER],
      ...(envSecretRefName && { envFrom: [{ secretRef: { name: envSecretRefName } }] }),
      resources: { requests: { cpu: "100m", memory: "100Mi" }, limits: { cpu: "1", memory: "1Gi" } },
      volumeMounts: [...claimMount, { name: volume, mountPath: MODEL_FOLDER }],
    },
    volumes: [
      ...(claim ? [{ name: CLAIM_VOLUME, persistentVolumeClaim: { claimName: claim[1]! } }] : []),
      { name: volume, emptyDir: {} },
    ],
    mounts: [...claimMount, { name: volume, mountPath: MODEL_FOLDER, readOnly: true }],
  };
}

function clipped(name: string): string {
  return name.slice(0, 63).replace(/-+$/, "");
}
