import type { Operator } from "@konverge/runtime";
import { DEFAULT_IMAGE } from "../manifests/defaults.ts";
import { areSupplied } from "../operators/operator-modules.ts";
import { UsageError } from "../usage-error.ts";

export const IMAGE_OPTION = [
  "--image <image>",
  `image of the operators; required for your own operators. Default: ${DEFAULT_IMAGE}`,
] as const;

export const PULL_SECRET_OPTION = [
  "--image-pull-secret <name>",
  "Secret in the operators' namespace with which nodes pull the image; repeatable",
  (text: string, before: readonly string[] = []): readonly string[] => [...before, text],
] as const;

/** The image that operators run: there is one for those that come with Konverge, and none for others. */
export async function imageOf(
  operators: readonly Operator[],
  given: string | undefined,
  command: string,
): Promise<string> {
  if (given !== undefined) return given;
  if (await areSupplied(operators)) return DEFAULT_IMAGE;
  const names = operators.map(({ name }) => name).join(", ");
  throw new UsageError(
    `which image runs ${names}? Name the one that you have built: konverge ${command} --image REGISTRY/NAME:TAG`,
  );
}
