import type { RoleServer, RoleState, ServerLogin } from "./postgresql.ts";

/** In place of PostgreSQL servers: what is on each of them, by its URL and the role's name. */
export class FakeServers {
  readonly roles = new Map<string, RoleState>();

  async read(url: string, role: string): Promise<RoleState | undefined> {
    return this.roles.get(`${url}/${role}`);
  }

  async write(url: string, role: string, state: RoleState): Promise<void> {
    this.roles.set(`${url}/${role}`, state);
  }

  async drop(url: string, role: string): Promise<void> {
    this.roles.delete(`${url}/${role}`);
  }
}

/** Connects to them as the operator does. */
export const connectTo =
  (servers: FakeServers) =>
  ({ url }: ServerLogin): RoleServer => ({
    read: (role) => servers.read(url, role),
    write: (role, state) => servers.write(url, role, state),
    drop: (role) => servers.drop(url, role),
  });
