import { spawnSync } from "node:child_process";
import { findPrograms, MissingPrerequisites } from "@konverge/linux-node";
import { findControlPlane } from "@konverge/real";

/** What images are made with, and the Debian package that has it. */
const BUILDERS = {
  buildah: "buildah",
  "apt-get": "apt",
  "dpkg-deb": "dpkg",
  tar: "tar",
  "python3 -m pip": "python3-pip",
};

/** Whether scenarios run with the real control plane instead of the embedded one. */
export const isReal = () => process.env["KONVERGE_CONTROL_PLANE"] === "real";

/** Why scenarios on real nodes cannot run on this machine; false if they can. */
export function whyNoRealNodes(): string | false {
  const missing: string[] = [];
  try {
    findPrograms();
  } catch (error) {
    if (!(error instanceof MissingPrerequisites)) throw error;
    missing.push(...error.missing);
  }
  for (const [program, from] of Object.entries(BUILDERS)) {
    const [command = "", ...args] = program.split(" ");
    if (spawnSync(command, [...args, "--version"]).status !== 0)
      missing.push(`${program} is missing: apt-get install ${from}`);
  }
  if (isReal()) {
    const plane = findControlPlane();
    if (!plane.available) missing.push(plane.why);
  }
  return missing.length > 0 && `no real nodes: ${missing.join("; ")}`;
}
