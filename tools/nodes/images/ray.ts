import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { addUser } from "./debian.ts";
import { pythonImage } from "./python-packages.ts";

/** Ray from PyPI with the user, the commands and the tools that pods of a RayCluster expect of its official image. */
export const ray = pythonImage({
  name: "docker.io/rayproject/ray:2.60.0",
  requirements: ["ray[default,serve]==2.60.0"],
  packages: ["bash", "wget", "procps"],
  commands: { ray: 'exec python3 -m ray.scripts.scripts "$@"', python: 'exec python3 "$@"' },
  config: { User: "1000", Env: ["PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/home/ray", "LANG=C.UTF-8"] },
  finish: (root) => {
    addUser(root, "ray", 1000, "/home/ray");
    mkdirSync(join(root, "home/ray"), { recursive: true, mode: 0o777 });
  },
});
