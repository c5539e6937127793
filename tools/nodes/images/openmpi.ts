import { chownSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { addUser } from "./debian.ts";
import type { DebianImage } from "./debian-image.ts";
import { SHELL_TOOLS, SYSTEM_PATH } from "./server-images.ts";

/**
 * Debian's Open MPI 4.1, mpi4py and OpenSSH, arranged as in the images of Kubeflow's MPI operator: a server of SSH that runs as
 * `mpiuser` on port 2222, whose host key is that of the job, and a client that does not know hosts.
 */
export const openmpi: DebianImage = {
  name: "docker.io/mpioperator/openmpi:4.1",
  packages: ["openmpi-bin", "openssh-server", "openssh-client", "python3-mpi4py", ...SHELL_TOOLS],
  config: { User: "mpiuser", Env: [`PATH=${SYSTEM_PATH}`, "LANG=C.UTF-8", "HOME=/home/mpiuser"] },
  finish: (root) => {
    const home = join(root, "home/mpiuser");
    mkdirSync(home, { recursive: true });
    const port = "Port 2222\n";
    const server = `${port}PidFile /home/mpiuser/sshd.pid\nHostKey /home/mpiuser/.ssh/id_rsa\nStrictModes no\nUsePAM no\n`;
    writeFileSync(join(home, ".sshd_config"), server);
    const client = `Host *\n${port}StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nLogLevel ERROR\n`;
    writeFileSync(join(root, "etc/ssh/ssh_config"), client);
    addUser(root, "mpiuser", 1000, "/home/mpiuser");
    chownSync(home, 1000, 1000);
    symlinkSync("mpirun.openmpi", join(root, "usr/bin/mpirun"));
  },
};
