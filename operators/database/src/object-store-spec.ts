import { z } from "konverge";
import type { DeepReadonly } from "konverge/objects";

const secret = () => z.object({ secretName: z.string().min(1) });

/** An object store with the S3 API, as a Database or a restore names it. */
export const objectStoreSpec = z.object({
  bucket: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/)
    .describe("An existing bucket."),
  path: z
    .string()
    .regex(/^(\/[A-Za-z0-9._-]+)+$/)
    .optional()
    .describe("Where in the bucket. Default: /<namespace>/<name of the Database>. Each Database needs its own."),
  endpoint: z
    .string()
    .regex(/^[A-Za-z0-9.-]+(:[0-9]+)?$/)
    .optional()
    .describe(
      "Host, and port unless it is 443, of a server with the S3 API over TLS. Default: Amazon S3 in the region.",
    ),
  region: z.string().min(1).default("us-east-1"),
  credentials: secret().describe("A Secret with access-key-id and secret-access-key."),
  encryption: secret()
    .optional()
    .describe("A Secret with passphrase: everything is encrypted (AES-256) before it leaves the pod."),
  ca: secret()
    .optional()
    .describe("A Secret with ca.crt, the authority of the endpoint's certificate. Default: those of the image."),
});
export type ObjectStoreSpec = DeepReadonly<z.infer<typeof objectStoreSpec>>;
