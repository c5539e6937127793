import { createHash, createHmac } from "node:crypto";
import { request } from "node:https";
import { createAuthority } from "@konverge/certificates";
import type { Client } from "@konverge/client";
import { realClock } from "@konverge/core";
import { Pod, Secret, Service } from "@konverge/kinds";
import { restrictedPod } from "./pods.ts";
import { now, until } from "./waiting.ts";

const PORT = 9000;
const REGION = "us-east-1";
const KEYS = { "access-key-id": "konverge", "secret-access-key": "not a secret, only a test" };

/** MinIO in a pod behind a Service, with a certificate of a private authority; and a client of its S3 API. */
export class ObjectStore {
  readonly #host: string;
  readonly #address: string;
  readonly #authority: string;

  private constructor(host: string, address: string, authority: string) {
    this.#host = host;
    this.#address = address;
    this.#authority = authority;
  }

  static async start(client: Client, namespace: string): Promise<ObjectStore> {
    const name = "minio";
    const host = `${name}.${namespace}.svc`;
    const authority = createAuthority(realClock(), { name: "store" });
    const { cert, key } = authority.server(host, [host]);
    const metadata = { name, namespace, labels: { app: name } };
    await client.create(Secret, { metadata, stringData: { "public.crt": cert, "private.key": key, ...KEYS } });
    await client.create(Service, { metadata, spec: { selector: { app: name }, ports: [{ port: PORT }] } });
    const variable = (variableName: string, of: string) => ({
      name: variableName,
      valueFrom: { secretKeyRef: { name, key: of } },
    });
    const items = ["public.crt", "private.key"].map((file) => ({ key: file, path: file }));
    await client.create(Pod, {
      metadata,
      spec: {
        ...restrictedPod({
          name,
          image: "minio/minio:2026-02-12",
          args: ["server", "/data", "--address", `:${PORT}`, "--certs-dir", "/certs"],
          env: [variable("MINIO_ROOT_USER", "access-key-id"), variable("MINIO_ROOT_PASSWORD", "secret-access-key")],
          readinessProbe: { tcpSocket: { port: PORT }, periodSeconds: 1 },
          volumeMounts: [
            { name: "data", mountPath: "/data" },
            { name: "certs", mountPath: "/certs", readOnly: true },
          ],
        }),
        securityContext: { fsGroup: 1000 },
        volumes: [
          { name: "data", emptyDir: {} },
          { name: "certs", secret: { secretName: name, items } },
        ],
      },
    });
    const address = await until("MinIO runs", 120, async () => {
      const { status } = await client.get(Pod, `${namespace}/${name}`);
      const isReady = status?.conditions?.some((one) => one.type === "Ready" && one.status === "True");
      return isReady ? status?.podIP : undefined;
    });
    return new ObjectStore(host, address, authority.cert);
  }

  /** What a Database in a namespace says of a bucket here; its Secrets are made. */
  async bucketFor(client: Client, namespace: string, bucket: string) {
    await until(`the bucket ${bucket} is there`, 60, async () => {
      const { status, body } = await this.#call("PUT", `/${bucket}`);
      if (status === 200) return true;
      throw new Error(body.toString());
    });
    const secrets = {
      "store-keys": KEYS,
      "store-passphrase": { passphrase: "correct horse battery staple" },
      "store-authority": { "ca.crt": this.#authority },
    };
    for (const [name, stringData] of Object.entries(secrets)) {
      await client.create(Secret, { metadata: { name, namespace }, stringData });
    }
    return {
      bucket,
      endpoint: `${this.#host}:${PORT}`,
      credentials: { secretName: "store-keys" },
      encryption: { secretName: "store-passphrase" },
      ca: { secretName: "store-authority" },
    };
  }

  /** What rclone finds this store by, as the remote `s3`. It has no file with the authority, so it does not check certificates. */
  rcloneVariables(): Record<string, string> {
    return {
      RCLONE_CONFIG_S3_TYPE: "s3",
      RCLONE_CONFIG_S3_PROVIDER: "Minio",
      RCLONE_CONFIG_S3_ENV_AUTH: "false",
      RCLONE_CONFIG_S3_ACCESS_KEY_ID: KEYS["access-key-id"],
      RCLONE_CONFIG_S3_SECRET_ACCESS_KEY: KEYS["secret-access-key"],
      RCLONE_CONFIG_S3_ENDPOINT: `https://${this.#host}:${PORT}`,
      RCLONE_NO_CHECK_CERTIFICATE: "true",
    };
  }

  /** The names of all objects of a bucket that begin with a prefix. */
  async list(bucket: string, prefix: string): Promise<string[]> {
    const names: string[] = [];
    for (let token = ""; ; ) {
      const query = { ...(token && { "continuation-token": token }), "list-type": "2", prefix };
      const { status, body } = await this.#call("GET", `/${bucket}`, query);
      const text = body.toString();
      if (status !== 200) throw new Error(text);
      names.push(...[...text.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key]) => key!));
      token = /<NextContinuationToken>([^<]*)</.exec(text)?.[1] ?? "";
      if (!token) return names;
    }
  }

  async read(bucket: string, name: string): Promise<Buffer> {
    const { status, body } = await this.#call("GET", `/${bucket}/${name}`);
    if (status !== 200) throw new Error(body.toString());
    return body;
  }

  /** A request, signed as Amazon's Signature Version 4 prescribes. */
  #call(
    method: string,
    path: string,
    query: Readonly<Record<string, string>> = {},
  ): Promise<{ status: number; body: Buffer }> {
    const encode = (text: string) =>
      encodeURIComponent(text).replaceAll(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
    const search = Object.entries(query)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => `${encode(name)}=${encode(value)}`)
      .join("&");
    const place = path.split("/").map(encode).join("/");
    const time = new Date(now()).toISOString().replaceAll(/[-:]|\.\d+/g, "");
    const digest = (data: string) => createHash("sha256").update(data).digest("hex");
    const headers = { host: `${this.#host}:${PORT}`, "x-amz-content-sha256": digest(""), "x-amz-date": time };
    const signed = Object.keys(headers).join(";");
    const lines = Object.entries(headers).map(([name, value]) => `${name}:${value}\n`);
    const canonical = [method, place, search, lines.join(""), signed, digest("")].join("\n");
    const scope = `${time.slice(0, 8)}/${REGION}/s3/aws4_request`;
    const sign = (key: string | Buffer, data: string) => createHmac("sha256", key).update(data).digest();
    const key = scope.split("/").reduce<string | Buffer>(sign, `AWS4${KEYS["secret-access-key"]}`);
    const signature = sign(key, ["AWS4-HMAC-SHA256", time, scope, digest(canonical)].join("\n")).toString("hex");
    const authorization = `AWS4-HMAC-SHA256 Credential=${KEYS["access-key-id"]}/${scope}, SignedHeaders=${signed}, Signature=${signature}`;
    const target = { host: this.#address, port: PORT, servername: this.#host, ca: this.#authority };
    return new Promise((resolve, reject) => {
      const sent = request(
        { ...target, method, path: `${place}${search && `?${search}`}`, headers: { ...headers, authorization } },
        async (response) => {
          const parts: Buffer[] = await response.toArray();
          resolve({ status: response.statusCode ?? 0, body: Buffer.concat(parts) });
        },
      );
      sent.once("error", reject).end();
    });
  }
}
