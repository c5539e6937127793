import type { DebianImage } from "./debian-image.ts";
import { SYSTEM_PATH } from "./server-images.ts";

/** Debian's Redis with its command line client. */
export const redis: DebianImage = {
  name: "docker.io/library/redis:7.0",
  packages: ["redis-server", "redis-tools"],
  config: { User: "1000", Env: [`PATH=${SYSTEM_PATH}`], Entrypoint: ["redis-server"] },
};
