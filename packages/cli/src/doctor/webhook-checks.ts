import { connect } from "node:net";
import type { Client } from "@konverge/client";
import {
  type CustomResourceDefinition,
  EndpointSlice,
  MutatingWebhookConfiguration,
  Service,
  ValidatingWebhookConfiguration,
} from "@konverge/kinds";
import { maybe } from "../deploy/apply-objects.ts";
import { isAbandoned, registeredByRuns } from "../run/run-registrations.ts";
import { certificateProblem } from "./certificate-checks.ts";
import { listed } from "./examined-objects.ts";
import type { Finding } from "./finding.ts";

interface ClientConfig {
  readonly url?: string;
  readonly caBundle?: string;
  readonly service?: { name: string; namespace: string; port?: number };
}

interface Hook {
  /** `ValidatingWebhookConfiguration things`. */
  readonly object: string;
  readonly webhook: string;
  readonly config: ClientConfig;
  /** What fails while it cannot be reached. */
  readonly effect: string;
}

/** Webhooks that the API server cannot reach, and CA bundles that no longer hold. */
export async function webhookFindings(client: Client, crds: readonly CustomResourceDefinition[]): Promise<Finding[]> {
  const abandoned = new Set(
    (await registeredByRuns(client))
      .filter(isAbandoned)
      .map(({ kind, object }) => `${kind.kind} ${object.metadata.name}`),
  );
  const findings: Finding[] = [];
  for (const hook of await hooksOf(client, crds)) {
    if (abandoned.has(hook.object)) {
      findings.push({
        ...{
          check: "webhooks",
          object: hook.object,
          problem: `${hook.webhook} points to a \`konverge run\` of this machine that has ended, so ${hook.effect}`,
        },
        fix: "Remove it: npx konverge cleanup",
      });
      continue;
    }
    const unreachable = hook.config.service
      ? await serviceProblem(client, hook.config.service)
      : await urlProblem(hook.config.url ?? "");
    if (unreachable) {
      const { problem, fix } = unreachable;
      findings.push({
        check: "webhooks",
        object: hook.object,
        problem: `${hook.webhook}: ${problem}, so ${hook.effect}`,
        fix,
      });
    }
    const expiry = hook.config.caBundle
      ? certificateProblem(Buffer.from(hook.config.caBundle, "base64").toString(), client.clock)
      : undefined;
    if (expiry) {
      findings.push({
        ...{ check: "certificates", object: hook.object, problem: `the CA bundle of ${hook.webhook} ${expiry}` },
        fix: "Restart the operator, which renews and registers its certificates, or renew what cert-manager or you put there.",
      });
    }
  }
  return findings;
}

async function hooksOf(client: Client, crds: readonly CustomResourceDefinition[]): Promise<Hook[]> {
  const hooks: Hook[] = [];
  for (const kind of [ValidatingWebhookConfiguration, MutatingWebhookConfiguration]) {
    for (const { metadata, webhooks = [] } of await listed<ValidatingWebhookConfiguration>(client, kind as never)) {
      for (const { name, clientConfig, failurePolicy } of webhooks) {
        const effect = failurePolicy === "Ignore" ? "it is skipped" : "writes that it is asked about fail";
        hooks.push({
          object: `${kind.kind} ${metadata.name}`,
          webhook: `the webhook ${name}`,
          config: clientConfig as ClientConfig,
          effect,
        });
      }
    }
  }
  for (const { metadata, spec } of crds) {
    const config = spec.conversion?.webhook?.clientConfig as ClientConfig | undefined;
    const effect = "objects cannot be read or written in other versions than the stored one";
    if (config)
      hooks.push({
        object: `CustomResourceDefinition ${metadata.name}`,
        webhook: "its conversion webhook",
        config,
        effect,
      });
  }
  return hooks;
}

type Problem = Pick<Finding, "problem" | "fix">;

async function serviceProblem(
  client: Client,
  { name, namespace, port = 443 }: NonNullable<ClientConfig["service"]>,
): Promise<Problem | undefined> {
  const service = (await maybe(client, Service as never, `${namespace}/${name}`)) as Service | undefined;
  if (!service) {
    return {
      problem: `there is no Service ${namespace}/${name}`,
      fix: "Deploy the operator, or delete this registration if the operator is gone.",
    };
  }
  if (!service.spec?.ports?.some((one) => one.port === port)) {
    return {
      problem: `the Service ${namespace}/${name} has no port ${port}`,
      fix: `Add port ${port} to the Service, or name another port in the registration.`,
    };
  }
  const { items } = await client.list(EndpointSlice, {
    namespace,
    labelSelector: `kubernetes.io/service-name=${name}`,
  });
  const isReady = items.some(({ endpoints = [] }) => endpoints.some(({ conditions }) => conditions?.ready !== false));
  if (isReady) return undefined;
  return {
    problem: `the Service ${namespace}/${name} has no ready endpoint`,
    fix: `Check the pods that it selects: kubectl get pods --namespace ${namespace}`,
  };
}

/** Tried from here; the API server may be on another machine. */
async function urlProblem(url: string): Promise<Problem | undefined> {
  const { hostname, port } = new URL(url);
  const error = await new Promise<string | undefined>((resolve) => {
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || 443), timeout: 3_000 });
    const end = (why: string | undefined) => {
      socket.destroy();
      resolve(why);
    };
    socket.once("connect", () => end(undefined));
    socket.once("timeout", () => end("no answer"));
    socket.once("error", ({ code, message }: NodeJS.ErrnoException) => end(code ?? message));
  });
  if (error === undefined) return undefined;
  return {
    problem: `${url} cannot be reached from here (${error})`,
    fix: "Start the process that serves it, or delete this registration if it is gone.",
  };
}
