// Manage roles of PostgreSQL servers: credentials from a Secret, a password that is made, stored and rotated, and repair of drift.
import {
  cacheKind,
  controller,
  defineKind,
  type ExternalVerbContext,
  externalResource,
  type ObjectOf,
  operator,
  PermanentError,
  rotatedPassword,
  z,
} from "konverge";
import { Secret } from "konverge/kinds";

/** Change its value to have another password made. */
const ROTATE = "examples.konverge.dev/rotate";
const DAY = 24 * 3600_000;

export const PostgresRole = defineKind({
  group: "examples.konverge.dev",
  kind: "PostgresRole",
  versions: {
    v1: {
      spec: z.object({
        server: z
          .string()
          .min(1)
          .describe("Secret in the same namespace with url, user and password of an administrator"),
        login: z.boolean().default(true),
        connectionLimit: z.int().min(-1).default(-1),
        rotateEveryDays: z.int().min(1).optional(),
      }),
      status: z.object({ role: z.string().optional() }),
    },
  },
});
type PostgresRole = ObjectOf<typeof PostgresRole>;

/** What a role is, as far as a server says it: of its password, it keeps a digest. */
export interface RoleState {
  readonly login: boolean;
  readonly connectionLimit: number;
  readonly passwordDigest: string;
}

/** What the operator needs of a server. */
export interface RoleServer {
  read(role: string): Promise<RoleState | undefined>;
  /** Creates it, or changes it. */
  write(role: string, state: RoleState, password: string): Promise<void>;
  drop(role: string): Promise<void>;
}

/** How a server is reached. */
export interface ServerLogin {
  readonly url: string;
  readonly user: string;
  readonly password: string;
}

interface DesiredRole {
  readonly state: RoleState;
  readonly password: string;
}

export function postgresOperator(connect: (login: ServerLogin) => RoleServer) {
  const serverOf = ({ object, cache }: ExternalVerbContext<PostgresRole>) => connect(loginOf(object, cache));
  const account = externalResource<PostgresRole, DesiredRole, RoleState>(PostgresRole, {
    name: "role",
    id: roleName,
    observe: (role, call) => serverOf(call).read(role),
    async create(role, { state, password }, call) {
      await serverOf(call).write(role, state, password);
      return undefined;
    },
    matches: (observed, { state }) => JSON.stringify(observed) === JSON.stringify(state),
    update: (role, { state, password }, call) => serverOf(call).write(role, state, password),
    delete: (role, call) => serverOf(call).drop(role),
  });

  const roles = controller(PostgresRole, {
    owns: [Secret],
    watches: [cacheKind(Secret)],
    // No event reports what is changed on a server.
    resync: 60_000,
    async reconcile(role, context) {
      const { spec } = role;
      const { name, namespace, annotations } = role.metadata;
      const metadata = { name: `${name}-credentials`, namespace };
      const username = roleName(role);
      const password = rotatedPassword(context.observed(Secret.draft({ metadata })), {
        clock: context.clock,
        rotateEvery: spec.rotateEveryDays && spec.rotateEveryDays * DAY,
        request: annotations?.[ROTATE],
      });
      const { toSet, digest: passwordDigest } = password;
      if (toSet === undefined || passwordDigest === undefined)
        return { children: [password.secret(metadata, { username }, false)], requeueAfter: 1 };
      const state = { login: spec.login, connectionLimit: spec.connectionLimit, passwordDigest };
      await account.converge(role, { state, password: toSet }, context);
      return { children: [password.secret(metadata, { username }, true)], status: { role: username } };
    },
    cleanup: (role, context) => account.remove(role, context),
  });

  return operator({
    name: "postgres-role-operator",
    description: "Manages roles of PostgreSQL servers.",
    kinds: [PostgresRole],
    create: () => ({ controllers: [roles] }),
  });
}

/** No two objects have the same, and none is that of a role that another client has created. */
function roleName({ metadata }: PostgresRole): string {
  return `role-${metadata.uid}`;
}

function loginOf({ metadata, spec }: PostgresRole, cache: ExternalVerbContext<PostgresRole>["cache"]): ServerLogin {
  const secret = cache.get(Secret, `${metadata.namespace}/${spec.server}`);
  const read = (key: string) => {
    const value = secret?.data?.[key];
    if (value === undefined) throw new PermanentError("NoCredentials", `there is no Secret ${spec.server} with ${key}`);
    return Buffer.from(value, "base64").toString();
  };
  return { url: read("url"), user: read("user"), password: read("password") };
}
