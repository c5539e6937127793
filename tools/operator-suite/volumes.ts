import { CSIDriver, PersistentVolume } from "@konverge/kinds";
import type { TestEnvironment } from "@konverge/testing";

/**
 * Volumes for the claims of a scenario. A real control plane with simulated nodes has no provisioner; the embedded cluster
 * has one, and needs none of these.
 */
export async function supplyVolumes(stage: TestEnvironment, ...sizes: readonly string[]): Promise<void> {
  if (stage.where === "embedded") return;
  for (const storage of sizes) {
    await stage.client.create(PersistentVolume, {
      metadata: { generateName: `${stage.namespace}-` },
      spec: {
        capacity: { storage },
        accessModes: ["ReadWriteOnce", "ReadWriteMany"],
        persistentVolumeReclaimPolicy: "Delete",
        hostPath: { path: `/volumes/${stage.namespace}` },
      },
    });
  }
}

/**
 * Makes volumes of the embedded cluster attachable to one node at a time, as disks of a cloud are: pods on another node wait
 * for a volume that is ReadWriteOnce.
 */
export async function attachVolumes(stage: TestEnvironment): Promise<void> {
  if (stage.where !== "embedded") return;
  await stage.client.delete(CSIDriver, "simulated.konverge.dev");
}
