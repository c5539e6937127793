import { repairsChildren, survivesApiErrors, survivesCrdDeletion, survivesDeletion } from "@konverge/operator-suite";
import { RayCluster, rayOperator } from "@konverge/ray-operator";
import { cluster, withoutAddresses } from "./scenarios.ts";

// Samples of what ray.proof.test.ts tries as a whole.
const mask = withoutAddresses;
survivesApiErrors("a cluster is made whatever request fails", rayOperator, cluster, { mask, runs: 4 });
survivesDeletion("a cluster goes with all it has", rayOperator, cluster, RayCluster, { mask, every: 3 });
repairsChildren("a cluster's pods and Service are repaired", rayOperator, cluster, { mask, every: 12 });
survivesCrdDeletion("a cluster survives that its kind goes and comes", rayOperator, cluster, { mask });
