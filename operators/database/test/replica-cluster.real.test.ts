import { withPostgres } from "./postgres.ts";
import { changesPlaces, followsAndReplaces, keepsForeignData } from "./replica-cluster-stories.ts";

withPostgres("a Database follows another one, is promoted, and the former source follows it", followsAndReplaces);
withPostgres("a Database and the one that follows it change places and back, and nothing is rewound", changesPlaces);
withPostgres("data of another system are not replaced by those of a source", keepsForeignData);
