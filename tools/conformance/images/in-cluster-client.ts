import { createHash } from "node:crypto";
import type { Process } from "@konverge/cluster";
import { sleep } from "@konverge/core";
import { flagsOf } from "./serve.ts";

const ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

/** `agnhost inclusterclient`: asks the API server again and again how it is, with the token that it has. */
export async function inClusterClient(process: Process): Promise<number> {
  const interval = Number(flagsOf(process.argv.slice(2)).get("poll-interval") ?? 30) * 1000;
  const { files, env, clock, signal, label, stdout } = process;
  const url = `https://${env["KUBERNETES_SERVICE_HOST"]}:${env["KUBERNETES_SERVICE_PORT"]}/healthz`;
  for (;;) {
    await sleep(clock, interval, { signal, label, background: true });
    const header = `Bearer ${files.readText(`${ACCOUNT}/token`)}`;
    const hash = createHash("sha256").update(`salt|${header}`).digest("base64url");
    stdout(`calling /healthz\nauthz_header=${hash}\n`);
    const ca = `${ACCOUNT}/ca.crt`;
    const status = await process.run(["curl", "-sf", "--cacert", ca, "-H", `authorization: ${header}`, url]);
    if (status !== 0) stdout("status=failed\n");
  }
}
