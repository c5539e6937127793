import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { addUser } from "./debian.ts";
import type { DebianImage } from "./debian-image.ts";

/** Node of the version that the project pins, as npm has brought it here. */
const nodeFile = () => join(dirname(createRequire(import.meta.url).resolve("node/package.json")), "bin/node");
const CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt";

/** npm has no package for a given Node among Debian's: that of this machine. */
const npmFolder = () => dirname(dirname(realpathSync(execFileSync("which", ["npm"], { encoding: "utf8" }).trim())));

/** In place of the official image that the Dockerfile builds in. */
export const nodeBuilder: DebianImage = {
  name: "docker.io/library/node:24-bookworm-slim",
  packages: ["base-passwd", "bash", "dash", "coreutils", "findutils", "sed", "grep", "tar", "gzip", "libstdc++6"],
  config: {
    Env: [
      "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
      // Those of this machine, through whose network packages are fetched.
      `NODE_EXTRA_CA_CERTS=${CERTIFICATES}`,
    ],
  },
  contents: [process.versions.node],
  finish: (root) => {
    mkdirSync(join(root, "usr/local/bin"), { recursive: true });
    mkdirSync(join(root, "etc/ssl/certs"), { recursive: true });
    copyFileSync(CERTIFICATES, join(root, CERTIFICATES));
    copyFileSync(nodeFile(), join(root, "usr/local/bin/node"));
    cpSync(npmFolder(), join(root, "usr/local/lib/node_modules/npm"), { recursive: true, dereference: true });
    symlinkSync("../lib/node_modules/npm/bin/npm-cli.js", join(root, "usr/local/bin/npm"));
  },
};

/** In place of the distroless image that the Dockerfile's result runs in: no shell, Node where that image has it. */
export const nodeRuntime: DebianImage = {
  name: "gcr.io/distroless/nodejs24-debian12:nonroot",
  packages: ["base-files", "netbase", "tzdata", "libc6", "libstdc++6"],
  without: ["mawk", "libc-bin"],
  config: { User: "65532", Env: ["PATH=/usr/bin:/bin:/nodejs/bin"], Entrypoint: ["/nodejs/bin/node"] },
  contents: [process.versions.node],
  finish: (root) => {
    addUser(root, "nonroot", 65532, "/");
    mkdirSync(join(root, "nodejs/bin"), { recursive: true });
    mkdirSync(join(root, "etc/ssl/certs"), { recursive: true });
    copyFileSync(CERTIFICATES, join(root, CERTIFICATES));
    copyFileSync(nodeFile(), join(root, "nodejs/bin/node"));
  },
};
