import type { Database } from "./database.ts";

/**
 * Whether the superuser can log in over the network, and its Secret is for users. With a role for an application that is off,
 * unless it is turned on. The operator does without: scripts use the server's socket, backups the replication role.
 */
export const hasSuperuserAccess = ({ spec }: Database): boolean =>
  spec.enableSuperuserAccess ?? spec.application === undefined;
