interface Deployed {
  readonly config: { applications: { name: string; import_path: string }[] };
  /** How often it was asked since. */
  asked: number;
}

/** Ray Serve behind the dashboards of clusters, and the proxies of pods, as far as the operator sees them. */
export class SimulatedServe {
  readonly #deployed = new Map<string, Deployed>();
  /** Import paths of applications that cannot be deployed. */
  readonly broken = new Set<string>();
  /** Whether proxies take requests. */
  isHealthy = true;
  /** Configurations that were sent, by cluster. */
  readonly sent: { readonly cluster: string; readonly config: unknown }[] = [];

  readonly fetch = async (url: string, { method, body }: RequestInit): Promise<Response> => {
    const { hostname, pathname } = new URL(url);
    if (pathname === "/-/healthz") return new Response("success", { status: this.isHealthy ? 200 : 503 });
    if (pathname !== "/api/serve/applications/") return new Response("404: Not Found", { status: 404 });
    const cluster = hostname.replace(/-head-svc\..*$/, "");
    if (method === "PUT") {
      const config = JSON.parse(String(body));
      if (!Array.isArray(config.applications)) return new Response("applications: field required", { status: 400 });
      this.sent.push({ cluster, config });
      this.#deployed.set(cluster, { config, asked: 0 });
      return new Response("");
    }
    return Response.json(this.#details(cluster));
  };

  /** The head was restarted, and nothing of its state was kept. */
  forget(cluster: string): void {
    this.#deployed.delete(cluster);
  }

  /** Applications run some time after they were sent. */
  #details(cluster: string) {
    const deployed = this.#deployed.get(cluster);
    if (!deployed) return { applications: {}, deploy_mode: "UNSET" };
    deployed.asked++;
    const applications = deployed.config.applications.map(({ name, import_path }) => {
      const message = this.broken.has(import_path) ? `ModuleNotFoundError: ${import_path}` : "";
      const status = deployed.asked < 3 ? "DEPLOYING" : message ? "DEPLOY_FAILED" : "RUNNING";
      const deployments = { Main: { name: "Main", status: message ? "UPDATING" : "HEALTHY", message: "" } };
      return [name, { name, status, message: status === "DEPLOY_FAILED" ? message : "", deployments }];
    });
    return { applications: Object.fromEntries(applications), deploy_mode: "MULTI_APP" };
  }
}
