interface Submitted {
  readonly status: string;
  readonly message?: string;
}

/** Ray's jobs behind the dashboards of clusters, as far as the operator sees them. */
export class SimulatedJobs {
  readonly jobs = new Map<string, Submitted>();
  /** Bodies of the jobs that were submitted. */
  readonly sent: Record<string, unknown>[] = [];
  /** The token without which nothing is answered. */
  token: string | undefined;

  readonly fetch = async (url: string, { method, body, headers }: RequestInit): Promise<Response> => {
    const { pathname } = new URL(url);
    if (this.token && new Headers(headers).get("authorization") !== `Bearer ${this.token}`)
      return new Response("Unauthorized", { status: 401 });
    if (!pathname.startsWith("/api/jobs/")) return new Response("404: Not Found", { status: 404 });
    if (method === "POST") {
      const job = JSON.parse(String(body)) as Record<string, unknown>;
      const id = String(job["submission_id"]);
      if (this.jobs.has(id)) return new Response(`Job with submission_id ${id} already exists`, { status: 500 });
      this.sent.push(job);
      this.jobs.set(id, { status: "RUNNING" });
      return Response.json({ submission_id: id });
    }
    const found = this.jobs.get(pathname.slice("/api/jobs/".length));
    return found ? Response.json(found) : new Response("Job does not exist", { status: 404 });
  };
}
