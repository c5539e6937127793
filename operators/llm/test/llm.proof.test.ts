import { LLMModel, llmOperator, llmOperatorWith, ModelDeployment } from "@konverge/llm-operator";
import {
  exactRole,
  repairsChildren,
  survivesCrashesAndErrors,
  survivesCrdDeletion,
  survivesDeletion,
  survivesFaults,
  survivesSpecChanges,
} from "@konverge/operator-suite";
import type { AnyObject } from "konverge";
import { smallCanary, smallRollback } from "./canary-scenarios.ts";
import { engineChanges } from "./engines-scenarios.ts";
import { converges, convergesOnNodes, lives, monitored, recovers } from "./llm-model-scenarios.ts";
import {
  deploymentQuota,
  isDeployed,
  operatorWithoutMetrics,
  resized,
  sleeps,
  withoutSize,
} from "./model-deployment-scenarios.ts";
import { routed } from "./route-scenarios.ts";

exactRole(operatorWithoutMetrics, [monitored, routed, deploymentQuota, sleeps(llmOperatorWith), smallCanary]);

/** How a rollout replaced replicas follows from how long nodes took to have room, and an old ReplicaSet remembers it. */
const mask = (object: AnyObject): AnyObject =>
  JSON.parse(JSON.stringify(object, (key, value) => (key === "deployment.kubernetes.io/max-replicas" ? "…" : value)));

survivesFaults("an LLMModel converges whatever fails", llmOperator, converges, { mask });
survivesCrashesAndErrors("an LLMModel is scaled and deleted whatever fails", llmOperator, lives, { mask });
survivesCrashesAndErrors("an LLMModel recovers from a problem whatever fails", llmOperator, recovers, { mask });
survivesCrashesAndErrors("another engine is rolled out whatever fails", llmOperator, engineChanges, { mask });
survivesDeletion("an LLMModel goes with all it has, in each phase", llmOperator, converges, LLMModel);
survivesDeletion("an LLMModel with a problem goes with all it has, in each phase", llmOperator, recovers, LLMModel);
repairsChildren("each field of an LLMModel's children is repaired", llmOperator, converges);

survivesFaults("a ModelDeployment converges whatever fails", operatorWithoutMetrics, isDeployed);
survivesCrashesAndErrors("a ModelDeployment is resized and deleted whatever fails", operatorWithoutMetrics, resized);
survivesDeletion(
  "a ModelDeployment goes with all it has, in each phase",
  operatorWithoutMetrics,
  isDeployed,
  ModelDeployment,
);
repairsChildren("each field of a ModelDeployment's children is repaired", operatorWithoutMetrics, isDeployed, {
  mask: withoutSize,
});
survivesCrdDeletion("a ModelDeployment survives that its kind goes and comes", operatorWithoutMetrics, isDeployed);
survivesCrdDeletion("an LLMModel survives that its kind goes and comes", llmOperator, convergesOnNodes);
survivesSpecChanges("an LLMModel is as before after its spec is changed, and back", llmOperator, converges);
survivesSpecChanges(
  "a ModelDeployment is as before after its spec is changed, and back",
  operatorWithoutMetrics,
  isDeployed,
  {
    mask: withoutSize,
    except: isSize,
  },
);

survivesFaults("a canary is promoted whatever fails", operatorWithoutMetrics, smallCanary);
survivesCrashesAndErrors("a canary is rolled back whatever fails", operatorWithoutMetrics, smallRollback);
survivesDeletion(
  "a canary goes with its ModelDeployment, in each phase",
  operatorWithoutMetrics,
  smallCanary,
  ModelDeployment,
);
repairsChildren("each field of the children of a promoted canary is repaired", operatorWithoutMetrics, smallCanary, {
  mask: withoutSize,
});
survivesSpecChanges(
  "a promoted canary is as before after its spec is changed, and back",
  operatorWithoutMetrics,
  smallCanary,
  {
    mask: withoutSize,
    except: isSize,
  },
);

/** A size that is no longer requested is reduced after five minutes, later than the comparison. */
function isSize(_deployment: AnyObject, pointer?: string): boolean {
  return pointer === "/spec/replicas";
}
