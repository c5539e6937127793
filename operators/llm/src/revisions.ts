import { ExternalError } from "konverge";
import { ControllerRevision } from "konverge/kinds";
import { templateHash } from "konverge/objects";
import { serverImage } from "./engines/engine-of.ts";
import { MANAGED } from "./inference-server.ts";
import type { ModelDeployment } from "./model-deployment.ts";
import { DEPLOYMENT_LABEL } from "./model-deployment-children.ts";
import { servingFields } from "./serving-spec.ts";

type Spec = ModelDeployment["spec"];

/** The fields that decide what the servers run. Others, such as the SLA or the route, change without a new revision. */
const REVISIONED = ["model", ...Object.keys(servingFields).filter((name) => name !== "route")] as (keyof Spec)[];

function revisionedFields(spec: Spec): Partial<Spec> {
  // The image of a spec without one is part of what runs.
  const whole: Spec = { ...spec, image: serverImage(spec) };
  return Object.fromEntries(REVISIONED.flatMap((name) => (whole[name] === undefined ? [] : [[name, whole[name]]])));
}

/** Identifies what the servers of a spec run. */
export function revisionOf({ spec }: ModelDeployment): string {
  return templateHash(revisionedFields(spec));
}

function recordName({ metadata }: ModelDeployment, revision: string): string {
  return `${metadata.name}-revision-${revision}`;
}

/** Keeps what a deployment's servers run, so that the stable revision can be restored while the spec has another one. */
export function revisionRecordFor(deployment: ModelDeployment) {
  const { name, namespace } = deployment.metadata;
  return ControllerRevision.draft({
    metadata: {
      name: recordName(deployment, revisionOf(deployment)),
      namespace,
      // Not all of those by which the StatefulSet finds its own records.
      labels: { [DEPLOYMENT_LABEL]: name, ...MANAGED },
    },
    revision: 1,
    data: { spec: revisionedFields(deployment.spec) },
  });
}

/** The deployment with what its servers ran at a recorded revision; the other fields are today's. */
function atRevision(deployment: ModelDeployment, { data }: ControllerRevision): ModelDeployment {
  const { spec } = data as { spec: Partial<Spec> };
  const kept = Object.entries(deployment.spec).filter(([name]) => !REVISIONED.includes(name as keyof Spec));
  return { ...deployment, spec: { ...(Object.fromEntries(kept) as Spec), ...spec } };
}

/**
 * The deployment at its stable revision: the spec as it is until there is a record of an earlier one, and when its canary
 * is being promoted. Records are kept of the stable revision alone, so one that the status does not name is more recent than
 * the status: a process that was replaced can write its own late. Throws if there is no record any more, since any other
 * revision would replace what serves.
 */
export function stableDeployment(deployment: ModelDeployment, records: readonly ControllerRevision[]): ModelDeployment {
  const { canary, stableRevision } = deployment.status ?? {};
  const promoted = canary?.phase === "Promoting" ? canary.revision : undefined;
  if (promoted === revisionOf(deployment)) return deployment;
  const recorded = (revision = "") =>
    records.find(({ metadata }) => metadata.name === recordName(deployment, revision));
  const record = recorded(promoted) ?? recorded(stableRevision) ?? records[0];
  if (record) return atRevision(deployment, record);
  if (stableRevision === undefined || stableRevision === revisionOf(deployment)) return deployment;
  throw new ExternalError(
    "RevisionLost",
    `the ControllerRevision ${recordName(deployment, stableRevision)} of the stable revision is gone: restore it, or remove spec.rollout to roll out the spec without a canary`,
  );
}
