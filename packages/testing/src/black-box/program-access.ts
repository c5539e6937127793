import type { Transport } from "@konverge/core";
import { readText } from "@konverge/core";
import { type Permission, permissionText, usedPermissions } from "@konverge/runtime";

/** A permission that a program used, and the first request that shows it. */
export interface ObservedAccess {
  readonly permission: Permission;
  /** `POST /api/v1/namespaces/default/secrets`, without its query. */
  readonly request: string;
}

/** Records which permissions a program uses: each request that reaches the API server, with leases, events and reviews. */
export class ProgramAccess {
  readonly #observed = new Map<string, ObservedAccess>();
  readonly #refused = new Map<string, number>();

  /** A transport that records requests. */
  readonly recorded = (next: Transport): Transport => {
    return async (request) => {
      const response = await next(request);
      const path = request.path.replace(/\?.*/s, "");
      const used = usedPermissions(request, response);
      for (const permission of used) {
        const key = JSON.stringify(permission);
        if (!this.#observed.has(key)) this.#observed.set(key, { permission, request: `${request.method} ${path}` });
      }
      if (response.status !== 403 || used.length === 0) return response;
      const body = await readText(response.body);
      // A quota and an admission plugin answer 403, too.
      if (isRefusedByRole(body)) {
        const text = permissionText(used[0]!);
        this.#refused.set(text, (this.#refused.get(text) ?? 0) + 1);
      }
      return { ...response, body };
    };
  };

  get observed(): readonly ObservedAccess[] {
    return [...this.#observed.values()];
  }

  /** How often each permission was refused, by its text. */
  get refused(): ReadonlyMap<string, number> {
    return this.#refused;
  }
}

function isRefusedByRole(body: string): boolean {
  try {
    return / cannot \S+ (resource|path) "/.test((JSON.parse(body) as { message?: string }).message ?? "");
  } catch {
    return false;
  }
}
