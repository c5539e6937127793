import { PermanentError, type ReconcileContext } from "konverge";
import { usesImageVolumes } from "./inference-server.ts";
import type { ServingSpec } from "./serving-spec.ts";

/** The first Kubernetes with `volumes[].image`, behind the feature gate ImageVolume; on by default since 1.35. */
const OLDEST_MINOR = 31;

/**
 * Whether a cluster has image volumes. An older server rejects the whole Deployment because of a field that it does not
 * know; this reports what to do instead. A server that has them keeps them, so it is asked once.
 */
export class ImageVolumes {
  readonly #supporting = new Set<string>();

  /** Throws if a spec uses image volumes and the server is too old for them. */
  async check(spec: ServingSpec, { client, cluster }: Pick<ReconcileContext, "client" | "cluster">): Promise<void> {
    if (!usesImageVolumes(spec) || this.#supporting.has(cluster)) return;
    const { major, minor } = await client.version();
    // Some distributions add a sign: 31+.
    if (Number(major) > 1 || Number.parseInt(minor, 10) >= OLDEST_MINOR) {
      this.#supporting.add(cluster);
      return;
    }
    throw new PermanentError(
      "ImageVolumesUnsupported",
      `this is Kubernetes ${major}.${minor}, and a source that is an image takes 1.${OLDEST_MINOR} with the feature gate ImageVolume: use another source, such as claim or s3`,
    );
  }
}
