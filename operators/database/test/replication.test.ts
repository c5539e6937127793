import { withPostgres } from "./postgres.ts";
import { replicates } from "./replication-stories.ts";

withPostgres("a new server is made once, and its standbys have its rows", replicates);
