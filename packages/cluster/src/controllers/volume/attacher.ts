import { VolumeAttachment } from "@konverge/kinds";
import { builtInController } from "../../parts/built-in-controller.ts";
import { type ControlPlaneComponent, controllersComponent } from "../../parts/part.ts";
import { changedStatus } from "../workloads/status.ts";
import { DRIVER } from "./binding.ts";

/** Attaches the volumes of the cluster's own class, for which nothing has to be done. */
export const attacher: ControlPlaneComponent = controllersComponent(
  "simulated-attacher",
  [VolumeAttachment],
  () => [
    builtInController(VolumeAttachment, {
      name: "simulated-attacher",
      when: ({ object }) => object.spec.attacher === DRIVER,
      reconcile(attachment) {
        if (attachment.spec.attacher !== DRIVER || attachment.metadata.deletionTimestamp) return undefined;
        return changedStatus(attachment, { ...attachment.status, attached: true });
      },
    }),
  ],
  { fieldManager: "csi-attacher" },
);
