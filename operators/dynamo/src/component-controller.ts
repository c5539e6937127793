import {
  conditionFalse,
  conditionTrue,
  conditionUnknown,
  controller,
  ownedKind,
  permission,
  type ReconcileContext,
} from "konverge";
import { Event, Job, Pod } from "konverge/kinds";
import {
  failedCreateMessage,
  POD_PROBLEM_GRACE_MS,
  reportProblem,
  type WorkloadProblem,
  workloadProblem,
} from "konverge/pods";
import { DynamoComponent } from "./component.ts";

/** What builds images. */
export interface Builder {
  readonly image: string;
  /** The command, words with spaces between them; empty: the image's own. */
  readonly command: string;
}

/** The folder in which builders look for credentials. */
const CREDENTIALS = "/kaniko/.docker";
const RETRIES = 2;

/** The Job that builds an image and pushes it. Its arguments are those that kaniko takes. */
export function buildJobFor({ metadata, spec }: DynamoComponent, builder: Builder) {
  const { context, destination, dockerfile, pushSecret } = spec;
  const command = builder.command.split(/\s+/).filter((word) => word !== "");
  return Job.draft({
    metadata: {
      name: jobName({ metadata }),
      namespace: metadata.namespace,
      labels: { "nvidia.com/dynamo-image": metadata.name },
    },
    spec: {
      backoffLimit: RETRIES,
      template: {
        spec: {
          restartPolicy: "Never",
          containers: [
            {
              name: "build",
              image: builder.image,
              ...(command.length > 0 && { command }),
              args: [`--context=${context}`, `--dockerfile=${dockerfile}`, `--destination=${destination}`],
              ...(pushSecret && { volumeMounts: [{ name: "credentials", mountPath: CREDENTIALS }] }),
            },
          ],
          ...(pushSecret && {
            volumes: [
              {
                name: "credentials",
                secret: { secretName: pushSecret, items: [{ key: ".dockerconfigjson", path: "config.json" }] },
              },
            ],
          }),
        },
      },
    },
  });
}

const jobName = ({ metadata }: Pick<DynamoComponent, "metadata">) => `${metadata.name}-build`;

/** The Job of an image that is there, as it was asked for: neither another builder nor other credentials build it again. */
function asBuilt(component: DynamoComponent, { spec }: Job) {
  const pod = spec!.template.spec!;
  const { image = "", command = [] } = pod.containers[0]!;
  const pushSecret = pod.volumes?.find(({ name }) => name === "credentials")?.secret?.secretName;
  return buildJobFor({ ...component, spec: { ...component.spec, pushSecret } }, { image, command: command.join(" ") });
}

/** Builds an image once for each DynamoComponent, by a Job, and tells whether it is there. */
export function dynamoComponents(builder: Builder) {
  return controller(DynamoComponent, {
    // An unfinished build starts again with the current builder.
    owns: [ownedKind(Job, { onImmutable: "recreate" })],
    permissions: [permission(Pod, ["list"]), permission(Event, ["list"])],
    async reconcile(component, context) {
      const { observed, events } = context;
      const live = observed(Job, jobName(component));
      const ended = (type: string) =>
        live?.status?.conditions?.find((one) => one.type === type && one.status === "True");
      const job = ended("Complete") ? asBuilt(component, live!) : buildJobFor(component, builder);
      const { destination } = component.spec;
      const status = { job: job.metadata.name };
      if (ended("Complete")) {
        if (!component.status?.image) events.normal("ImageBuilt", `built ${destination}`);
        const ImageBuilt = conditionTrue("Built", destination);
        return {
          children: [job],
          status: { ...status, image: destination },
          conditions: { ImageBuilt, Ready: ImageBuilt },
        };
      }
      const failure = ended("Failed");
      if (failure) {
        const message = `job ${job.metadata.name} failed: ${failure.message ?? failure.reason}; see the logs of its pods`;
        if (component.status?.conditions?.find(({ type }) => type === "ImageBuilt")?.reason !== "BuildFailed") {
          events.warning("BuildFailed", message);
        }
        const ImageBuilt = conditionFalse("BuildFailed", message);
        return { children: [job], status, conditions: { ImageBuilt, Ready: ImageBuilt } };
      }
      const problem = await buildProblem(live, context);
      reportProblem(component, problem, events);
      return {
        children: [job],
        status,
        conditions: {
          ImageBuilt: conditionUnknown("Building", problem?.message ?? `by job ${job.metadata.name}`),
          ...(problem && { Degraded: conditionTrue(problem.reason, problem.message) }),
        },
        // Nobody tells of the pods of a Job.
        requeueAfter: POD_PROBLEM_GRACE_MS,
      };
    },
  });
}

/** What keeps a build from running. */
async function buildProblem(
  job: Job | undefined,
  { client, clock }: ReconcileContext,
): Promise<WorkloadProblem | undefined> {
  if (!job) return undefined;
  const { name, namespace } = job.metadata;
  const { items } = await client.list(Pod, { namespace, labelSelector: `batch.kubernetes.io/job-name=${name}` });
  const creationError = items.length === 0 ? await failedCreateMessage(client, job) : undefined;
  return workloadProblem({ pods: items, creationError, now: clock.now() });
}
