/** The kinds of KUDO, as its own definitions have them. */
import { ageColumn, conditionColumn, defineKind, type ObjectOf, z } from "@konverge/schema";

const text = () => z.string().optional();
const texts = () => z.record(z.string(), z.string());

const reference = z.object({
  apiVersion: text(),
  fieldPath: text(),
  kind: text(),
  name: text(),
  namespace: text(),
  resourceVersion: text(),
  uid: text(),
});

/** A name and a description; the versions of an operator have the rest. */
export const KudoOperator = defineKind({
  group: "kudo.dev",
  kind: "Operator",
  versions: {
    v1beta1: {
      spec: z
        .object({
          description: text(),
          kubernetesVersion: text(),
          kudoVersion: text(),
          maintainers: z.array(z.object({ email: text(), name: text() })).optional(),
          namespaceManifest: text(),
          url: text(),
        })
        .optional(),
      status: z.object({}),
      columns: { Age: ageColumn },
    },
  },
});
export type KudoOperator = ObjectOf<typeof KudoOperator>;

const parameter = z.object({
  default: text(),
  description: text(),
  displayName: text(),
  enum: z.array(z.string()).optional(),
  immutable: z.boolean().optional(),
  name: text(),
  required: z.boolean().optional(),
  trigger: text(),
  "value-type": text(),
});

const step = z.object({ name: text(), tasks: z.array(z.string()).optional() });
const phase = z.object({ name: text(), steps: z.array(step).optional(), strategy: text() });
const plan = z.object({ phases: z.array(phase).nullable().optional(), strategy: text() });

const task = z.object({
  kind: text(),
  name: text(),
  spec: z
    .object({
      appVersion: text(),
      done: z.boolean().optional(),
      fatal: z.boolean().optional(),
      instanceName: text(),
      operatorVersion: text(),
      package: text(),
      parameter: text(),
      parameterFile: text(),
      pipe: z
        .array(z.object({ envFile: text(), file: text(), key: text(), kind: text() }))
        .nullable()
        .optional(),
      pod: text(),
      resources: z.array(z.string()).nullable().optional(),
      wantErr: z.boolean().optional(),
    })
    .optional(),
});

/** Plans, tasks, parameters and templates of one version of an operator. */
export const OperatorVersion = defineKind({
  group: "kudo.dev",
  kind: "OperatorVersion",
  versions: {
    v1beta1: {
      spec: z
        .object({
          appVersion: text(),
          connectionString: text(),
          operator: reference.optional(),
          parameters: z.array(parameter).optional(),
          plans: z.record(z.string(), plan).nullable().optional(),
          tasks: z.array(task).optional(),
          templates: texts().optional(),
          upgradableFrom: z.array(reference).optional(),
          version: text(),
        })
        .optional(),
      status: z.object({}),
      columns: { Operator: ".spec.operator.name", Version: ".spec.version", Age: ageColumn },
    },
  },
});
export type OperatorVersion = ObjectOf<typeof OperatorVersion>;

const planStatus = z.object({
  lastUpdatedTimestamp: z.string().nullable().optional(),
  message: text(),
  name: text(),
  phases: z
    .array(
      z.object({
        message: text(),
        name: text(),
        status: text(),
        steps: z.array(z.object({ message: text(), name: text(), status: text() })).optional(),
      }),
    )
    .optional(),
  status: text(),
  uid: text(),
});

/** What a plan was started with. */
const execution = z.object({
  uid: text(),
  operatorVersion: text(),
  parameters: texts().optional(),
});

/** An object that a task made, and from what. */
const applied = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  name: z.string(),
  namespace: text(),
  plan: z.string(),
  phase: z.string(),
  step: z.string(),
  task: z.string(),
  uid: z.string(),
  digest: text(),
  dependencies: text(),
});

/** An installed operator, with its parameters and the state of its plans. */
export const Instance = defineKind({
  group: "kudo.dev",
  kind: "Instance",
  versions: {
    v1beta1: {
      spec: z
        .object({
          operatorVersion: reference.optional(),
          parameters: texts().optional(),
          planExecution: z.object({ planName: text(), status: text(), uid: text() }).optional(),
        })
        .optional(),
      status: z.object({
        planStatus: z.record(z.string(), planStatus).optional(),
        // Not KUDO's: what plans have made and were started with, so that it can be repaired.
        applied: z.array(applied).optional(),
        executions: z.record(z.string(), execution).optional(),
        scheduled: execution.optional(),
      }),
      columns: {
        Version: ".spec.operatorVersion.name",
        Plan: ".spec.planExecution.planName",
        Ready: conditionColumn("Ready"),
        Age: ageColumn,
      },
    },
  },
});
export type Instance = ObjectOf<typeof Instance>;

type VersionSpec = NonNullable<OperatorVersion["spec"]>;
export type Parameter = NonNullable<VersionSpec["parameters"]>[number];
export type Task = NonNullable<VersionSpec["tasks"]>[number];
export type Plan = NonNullable<VersionSpec["plans"]>[string];
export type InstanceStatus = NonNullable<Instance["status"]>;
export type PlanStatus = NonNullable<InstanceStatus["planStatus"]>[string];
export type PhaseStatus = NonNullable<PlanStatus["phases"]>[number];
export type StepStatus = NonNullable<PhaseStatus["steps"]>[number];
export type PlanExecution = NonNullable<InstanceStatus["executions"]>[string];
export type AppliedObject = NonNullable<InstanceStatus["applied"]>[number];

/** The key of the OperatorVersion of an instance: in its own namespace, unless it names another. */
export function operatorVersionKey({ metadata, spec }: Instance): string {
  const { name = "", namespace } = spec?.operatorVersion ?? {};
  return `${namespace || metadata.namespace}/${name}`;
}
