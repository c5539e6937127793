import {
  exactRole,
  repairsChildren,
  survivesApiErrors,
  survivesCrashes,
  survivesCrdDeletion,
  survivesDeletion,
} from "@konverge/operator-suite";
import { RayCluster, rayOperator } from "@konverge/ray-operator";
import { autoscaled, switchedOff } from "./autoscaling-scenarios.ts";
import { cluster, lives, recovers, replaced, withoutAddresses } from "./scenarios.ts";

exactRole(rayOperator, [cluster, lives, replaced, switchedOff]);

const mask = withoutAddresses;
survivesCrashes("a cluster is made, whenever the operator dies", rayOperator, cluster, { mask });
survivesCrashes("a cluster is scaled, suspended and deleted, whenever the operator dies", rayOperator, lives, { mask });
survivesCrashes("a cluster's pods are replaced, whenever the operator dies", rayOperator, replaced, { mask });
survivesCrashes("a cluster finds room later, whenever the operator dies", rayOperator, recovers, { mask });
survivesCrashes("the autoscaler's decisions are followed, whenever the operator dies", rayOperator, autoscaled, {
  mask,
});
survivesApiErrors("a cluster is made whatever request fails", rayOperator, cluster, { mask });
survivesApiErrors("an autoscaled cluster ends the same, whatever request fails", rayOperator, switchedOff, {
  mask,
  runs: 60,
});
survivesDeletion(
  "an autoscaled cluster goes with its account and rights, in each phase",
  rayOperator,
  autoscaled,
  RayCluster,
  {
    mask,
  },
);
survivesDeletion("a cluster goes with all it has, in each phase", rayOperator, replaced, RayCluster, { mask });
repairsChildren("each field of a cluster's pods and Service is repaired", rayOperator, cluster, { mask });
repairsChildren("each field of an autoscaler's account and rights is repaired", rayOperator, autoscaled, { mask });
survivesCrdDeletion("a cluster survives that its kind goes and comes", rayOperator, cluster, { mask });
survivesCrdDeletion("an autoscaled cluster survives that its kind goes and comes", rayOperator, autoscaled, { mask });
