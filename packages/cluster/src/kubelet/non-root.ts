import type { Container, Pod } from "@konverge/kinds";
import type { Image } from "../images/image.ts";
import { isPlainImage } from "../images/plain-images.ts";

/**
 * Why a container that must not run as root cannot be created. An image that is only a name may run as any user: it is
 * taken to keep to what its pod says.
 */
export function nonRootProblem(pod: Pod, container: Container, image: Image | undefined): string | undefined {
  const [own, ofPod] = [container.securityContext, pod.spec?.securityContext];
  if (!(own?.runAsNonRoot ?? ofPod?.runAsNonRoot)) return undefined;
  const { name, namespace, uid } = pod.metadata;
  const where = `(pod: "${name}_${namespace}(${uid})", container: ${container.name})`;
  const user = own?.runAsUser ?? ofPod?.runAsUser;
  if (user !== undefined) return user === 0 ? `container's runAsUser breaks non-root policy ${where}` : undefined;
  const isKnown = image?.commands !== undefined || isPlainImage(container.image);
  const ofImage = image?.user ?? (isKnown ? 0 : undefined);
  return ofImage === 0 ? `container has runAsNonRoot and image will run as root ${where}` : undefined;
}
