import { type Conditions, controller, findCondition, no, PermanentError, type Result, unknown, yes } from "konverge";
import { PersistentVolumeClaim } from "konverge/kinds";
import { DynamoComponent } from "./component.ts";
import { DynamoComponentDeployment } from "./component-deployment.ts";
import { claimsOf, componentsOf, imageFor } from "./graph-children.ts";
import { DynamoGraphDeployment } from "./graph-deployment.ts";
import { graphOf } from "./graph-services.ts";
import { componentName } from "./names.ts";
import { restartPlan } from "./restart.ts";

/**
 * Keeps a DynamoComponentDeployment for each service of a graph, the claims that services share, and the image if it is to be
 * built, and sums up how they are doing. The spec belongs to whoever wrote it: it is never changed.
 */
export function dynamoGraphDeployments() {
  return controller(DynamoGraphDeployment, {
    owns: [DynamoComponentDeployment, DynamoComponent, PersistentVolumeClaim],
    reconcile(graph, { observed, events }): Result<DynamoGraphDeployment> {
      const { services, sizing } = graphOf(graph);
      checkNames([...services.keys()], graph.metadata.name);
      const componentOf = (service: string) =>
        observed(DynamoComponentDeployment, componentName(graph.metadata.name, service));
      const image = imageFor(graph);
      // While another one is being built, the services stay with the one they have.
      const built = image && (observed(image)?.status?.image ?? graph.status?.image);
      const restart = restartPlan(graph, [...services.keys()].sort(), componentOf);
      const waitsForImage = image !== undefined && built === undefined && !componentOf([...services.keys()][0]!);
      const buildFailure = image && findCondition(observed(image)?.status?.conditions, "ImageBuilt");
      const components = waitsForImage ? [] : componentsOf(graph, services, { image: built, restartIds: restart.ids });
      const states = [...services].map(([name, { replicas = 1 }]) => {
        const live = componentOf(name);
        const available = findCondition(live?.status?.conditions, "Available");
        const current = live !== undefined && live.status?.observedGeneration === live.metadata.generation;
        return {
          name,
          ready: current && available?.status === "True",
          reason: available?.reason ?? "updating",
          message: available?.status === "True" ? undefined : (available?.message ?? "it is being created"),
          replicas: live?.status?.replicas ?? 0,
          readyReplicas: live?.status?.readyReplicas ?? 0,
          wanted: replicas,
        };
      });
      const failed =
        buildFailure?.status === "False" || states.some(({ reason, ready }) => !ready && reason === "failed");
      const ready = !waitsForImage && states.every((one) => one.ready);
      const state = ready ? "successful" : failed ? "failed" : "pending";
      if (ready && graph.status?.state !== "successful")
        events.normal("GraphReady", `all ${states.length} services are ready`);
      return {
        children: [...components, ...claimsOf(graph, services), ...(image ? [image] : [])],
        status: {
          state,
          services: Object.fromEntries(
            states.map(({ name, ready: isReady, message, replicas, readyReplicas }) => [
              name,
              {
                componentName: componentName(graph.metadata.name, name),
                replicas,
                readyReplicas,
                ready: isReady,
                ...(!isReady && message && { message }),
              },
            ]),
          ),
          ...(sizing && { sizing: { ...sizing } }),
          ...(built && { image: built }),
          ...(graph.spec.restart && {
            restart: {
              observedID: graph.spec.restart.id,
              phase: restart.pending.length === 0 ? ("Completed" as const) : ("Restarting" as const),
              ...(restart.pending.length > 0 && { inProgress: [...restart.pending] }),
            },
          }),
        },
        conditions: conditionsOf(states, ready, {
          waits: waitsForImage,
          asked: image !== undefined,
          built: built !== undefined,
          failure: buildFailure?.status === "False" ? buildFailure.message : undefined,
        }),
      };
    },
  });
}

function checkNames(services: readonly string[], graph: string): void {
  const names = services.map((service) => componentName(graph, service));
  const twice = names.findIndex((name, i) => names.indexOf(name) !== i);
  if (twice < 0) return;
  throw new PermanentError(
    "ServicesClash",
    `the services ${services[names.indexOf(names[twice]!)]} and ${services[twice]} would both be called ${names[twice]}`,
  );
}

interface ServiceState {
  readonly name: string;
  readonly ready: boolean;
  readonly reason: string;
  readonly message: string | undefined;
}

function conditionsOf(
  states: readonly ServiceState[],
  ready: boolean,
  image: { waits: boolean; asked: boolean; built: boolean; failure: string | undefined },
): Conditions {
  const ImageBuilt = !image.asked
    ? yes("NotAsked", "the services' images are given; nothing is built")
    : image.built
      ? yes("Built")
      : image.failure
        ? no("BuildFailed", image.failure)
        : unknown("Building");
  if (ready) return { Ready: yes("all_resources_are_ready", "All resources are ready"), ImageBuilt };
  if (image.waits) {
    const reason = image.failure ? "image_build_failed" : "building_image";
    return { Ready: no(reason, image.failure ?? "the services start when the image is built"), ImageBuilt };
  }
  const waiting = states.filter((one) => !one.ready);
  const message = waiting.map(({ name, message: told }) => `${name}: ${told}`).join("; ");
  const capacity = waiting.find(({ reason }) => reason === "insufficient_capacity");
  return { Ready: no(capacity ? "insufficient_capacity" : "some_resources_are_not_ready", message), ImageBuilt };
}
