import { adoptsVolumes } from "./adoption-stories.ts";
import {
  archivesForAnother,
  archivesHistories,
  archivesLater,
  archivesWhenBack,
  keepsForTheArchive,
  replaysTheArchive,
  restoresWhatWentOn,
} from "./archive-stories.ts";
import { fencesItself, isKilled, needsNoLease } from "./lease-stories.ts";
import { withPostgres } from "./postgres.ts";
import {
  archives,
  confirms,
  encrypts,
  endsInOrder,
  handsOver,
  isCareful,
  keepsSuperuserOut,
  rebuilds,
  remounts,
  rewinds,
  rotates,
  serves,
} from "./replication-stories.ts";

withPostgres("rows reach the standby; a primary hands over in good order, and nothing is lost", handsOver);
withPostgres("a primary whose pod is deleted stops in good order, and reports where", endsInOrder);
withPostgres(
  "a server starts again after its volume was mounted with fsGroup, with data that others cannot read",
  remounts,
);
withPostgres("a former primary stops, and rewinds what only it has", rewinds);
withPostgres("with standbys that must confirm, a primary that is alone acknowledges nothing", confirms);
withPostgres("the server takes the passwords of the Secret, the next one first, and says which it has", rotates);
withPostgres("the superuser is kept out of the network, and the application is not", keepsSuperuserOut);
withPostgres("the application has a database that its role owns, and the password of its Secret", serves);
withPostgres("servers accept TLS only, and take another certificate without a restart", encrypts);
withPostgres("what must not become a server does not; what is broken is copied anew", isCareful);
withPostgres("a standby whose WAL the primary no longer has is copied again, and cannot fill its volume", rebuilds);
withPostgres("a primary says how its archive is doing, and goes on when what was wrong is mended", archives);
withPostgres("a primary dies before it has archived its WAL: the promoted standby archives it", archivesForAnother);
withPostgres("a former primary archives what only it has before it takes that back", archivesWhenBack);
withPostgres("what cannot be archived then is set aside, and archived later", archivesLater);
withPostgres("a standby that was away replays what is archived, and is not copied again", replaysTheArchive);
withPostgres("a former primary that goes on archiving changes nothing of what is restored", restoresWhatWentOn);
withPostgres("volumes of an earlier Database: the server that led last leads again, with all rows", adoptsVolumes);
withPostgres(
  "a primary dies before it has archived where its timeline began: its successor archives it",
  archivesHistories,
);
withPostgres(
  "a standby keeps what its primary has not archived, and archives it when it is promoted",
  keepsForTheArchive,
);
withPostgres("a primary without contact stops at once, and starts when the operator is back", fencesItself);
withPostgres("a primary that hangs is killed, and no standby is promoted without a lease", isKilled);
withPostgres("a server without standbys needs no lease", needsNoLease);
