import { PersistentVolume, PersistentVolumeClaim, VolumeAttributesClass } from "@konverge/kinds";
import { ExternalError, watchKind } from "@konverge/runtime";
import { builtInController } from "../../parts/built-in-controller.ts";
import { controllersComponent } from "../../parts/part.ts";

const NAME = "volumeattributesclass-protection-controller";

/** The classes that a claim has, and is on its way to. */
function classesOfClaim({ spec, status }: PersistentVolumeClaim): string[] {
  const { currentVolumeAttributesClassName, modifyVolumeStatus } = status ?? {};
  const names = [
    spec?.volumeAttributesClassName,
    currentVolumeAttributesClassName,
    modifyVolumeStatus?.targetVolumeAttributesClassName,
  ];
  return [...new Set(names.filter((name) => name !== undefined && name !== ""))] as string[];
}

function classOfVolume({ spec }: PersistentVolume): string[] {
  return spec?.volumeAttributesClassName ? [spec.volumeAttributesClassName] : [];
}

/** Keeps a VolumeAttributesClass while a claim or a volume has it. */
function classProtection() {
  return builtInController(VolumeAttributesClass, {
    name: NAME,
    finalizer: "kubernetes.io/vac-protection",
    watches: [
      watchKind<PersistentVolumeClaim, VolumeAttributesClass>(PersistentVolumeClaim, {
        indexes: { attributes: classesOfClaim },
        to: classesOfClaim,
      }),
      watchKind<PersistentVolume, VolumeAttributesClass>(PersistentVolume, {
        indexes: { attributes: classOfVolume },
        to: classOfVolume,
      }),
    ],
    reconcile: () => undefined,
    async cleanup({ metadata }, { cache }) {
      const { name } = metadata;
      const users = [
        ...cache.find(PersistentVolumeClaim, "attributes", name),
        ...cache.find(PersistentVolume, "attributes", name),
      ];
      if (users.length > 0) {
        throw new ExternalError("InUse", `${name} is used by ${users[0]!.metadata.name}`, { requeueAfter: 300_000 });
      }
      return undefined;
    },
  });
}

/** Releases VolumeAttributesClasses that are no longer used. */
export const volumeAttributesClasses = controllersComponent(NAME, [VolumeAttributesClass], () => [classProtection()]);
