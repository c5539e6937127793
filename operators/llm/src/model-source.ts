import { cel, z } from "konverge";

const folder = () => z.string().max(1024);
const objectName = () =>
  z
    .string()
    .min(1)
    .max(253)
    .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/);

const claim = z
  .object({
    name: objectName().describe("The PersistentVolumeClaim, in the same namespace. It is mounted read-only."),
    path: folder().optional().describe("A folder of it. Default: all of it."),
  })
  .describe("Files on an existing claim.");

const s3 = z
  .object({
    uri: z
      .string()
      .max(1024)
      .regex(/^s3:\/\/[a-z0-9][-a-z0-9.]*[a-z0-9](\/.*)?$/)
      .describe("Bucket and folder: s3://models/llama-3-8b."),
    endpoint: z
      .string()
      .max(1024)
      .regex(/^https?:\/\//)
      .optional()
      .describe("The URL of another service that speaks S3, such as MinIO. Default: AWS."),
    region: z.string().min(1).max(63).optional().describe("The bucket's region."),
    credentialsSecret: objectName()
      .optional()
      .describe(
        "A Secret with the keys AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. Default: the credentials of the pod's service account.",
      ),
  })
  .describe("Files in a bucket, which an init container downloads into the cache before the server starts.");

const image = z
  .object({
    reference: z.string().min(1).max(1024).describe("The OCI image or artifact that contains the files."),
    path: folder().optional().describe("A folder of it. Default: all of it."),
    pullPolicy: z.enum(["Always", "IfNotPresent", "Never"]).optional(),
  })
  .describe("Files in an OCI image, mounted as a volume. Requires Kubernetes 1.31 with the feature gate ImageVolume.");

const repo = () =>
  z
    .string()
    .min(1)
    .max(200)
    .regex(/^[\w.-]+(\/[\w.-]+)?$/)
    .describe("The repository: meta-llama/Llama-3.1-8B-Instruct.");

/** The places that both models and adapters can be in. */
const filePlaces = { claim: claim.optional(), s3: s3.optional(), image: image.optional() };

const exactlyOne = () =>
  cel(
    "[has(self.huggingFace), has(self.claim), has(self.s3), has(self.image)].filter(given, given).size() == 1",
    "exactly one of huggingFace, claim, s3 and image must be set",
  );

/** The source of a model: exactly one of these. */
export const modelSourceField = z
  .object({
    huggingFace: z
      .object({
        repo: repo(),
        revision: z
          .string()
          .min(1)
          .max(200)
          .optional()
          .describe("A branch, tag or commit. Default: the default branch."),
        tokenSecret: z
          .object({ name: objectName(), key: z.string().min(1).max(253).default("token") })
          .optional()
          .describe("The key of a Secret with the token for a gated or private repository."),
      })
      .optional()
      .describe("A repository of Hugging Face, which the server downloads."),
    ...filePlaces,
  })
  .check(exactlyOne());

/** The source of an adapter: vLLM downloads those of Hugging Face from the default branch, with the model's token. */
export const adapterSourceField = z
  .object({
    huggingFace: z
      .object({ repo: repo() })
      .optional()
      .describe("A repository of Hugging Face, which the server downloads with the token of the model's source."),
    ...filePlaces,
  })
  .check(exactlyOne());

/** The source of a model or of an adapter. */
export interface FileSource {
  readonly huggingFace?:
    | {
        readonly repo: string;
        readonly revision?: string | undefined;
        readonly tokenSecret?: { readonly name: string; readonly key: string } | undefined;
      }
    | undefined;
  readonly claim?: { readonly name: string; readonly path?: string | undefined } | undefined;
  readonly s3?:
    | {
        readonly uri: string;
        readonly endpoint?: string | undefined;
        readonly region?: string | undefined;
        readonly credentialsSecret?: string | undefined;
      }
    | undefined;
  readonly image?:
    | {
        readonly reference: string;
        readonly path?: string | undefined;
        readonly pullPolicy?: "Always" | "IfNotPresent" | "Never" | undefined;
      }
    | undefined;
}

/** `modelPath` as a source; undefined if it is a folder of the node, or not set. */
export function sourceOfPath(modelPath: string | undefined): FileSource | undefined {
  const [, name, path = ""] = /^pvc:\/\/([^/]+)\/?(.*)$/.exec(modelPath ?? "") ?? [];
  return name ? { claim: { name, path } } : undefined;
}

/** A source in one line, as a status shows it. */
export function sourceUri({ huggingFace, claim: on, s3: bucket, image: oci }: FileSource): string | undefined {
  const below = (path = "") => (path === "" ? "" : `/${path.replace(/^\//, "")}`);
  if (huggingFace) return `hf://${huggingFace.repo}${huggingFace.revision ? `@${huggingFace.revision}` : ""}`;
  if (on) return `pvc://${on.name}${below(on.path)}`;
  if (bucket) return bucket.uri;
  return oci && `oci://${oci.reference}${below(oci.path)}`;
}
