/** The objects that a task describes, with what a plan was started with. The result depends on the arguments alone. */
import { groupKindText, type KindRef, type KubeObject, parseApiVersion } from "@konverge/core";
import { Instance, type OperatorVersion, type PlanExecution, type Task } from "./kudo-kinds.ts";
import { valuesOf } from "./parameters.ts";
import { FatalTaskError, type TaskPlace } from "./run-plan.ts";
import { type TaskEngine, type TaskTemplates, TemplateError } from "./task-engine.ts";
import { OPERATOR_LABEL, withMetadata } from "./task-metadata.ts";

/** One execution of a plan of an instance. */
export interface ExecutedPlan {
  readonly instance: Instance;
  readonly version: OperatorVersion;
  readonly execution: PlanExecution;
}

/** Which kind an object is of; undefined if the operator does not know it. */
export type FindKind = (object: KubeObject) => KindRef<KubeObject> | undefined;

export class TaskDrafts {
  readonly #engine: TaskEngine;
  readonly #kindOf: FindKind;

  constructor(engine: TaskEngine, kindOf: FindKind) {
    this.#engine = engine;
    this.#kindOf = kindOf;
  }

  /** What the templates of a task render, without KUDO's labels. Throws a {@link FatalTaskError}. */
  rendered(plan: ExecutedPlan, place: TaskPlace, resources: readonly string[]): KubeObject[] {
    return fatal(() => this.#engine.objects(this.#templates(plan, place, resources)));
  }

  /** The object as it is applied. Throws a {@link FatalTaskError} if its kind is not known. */
  placed({ instance, version, execution }: ExecutedPlan, place: TaskPlace, object: KubeObject): KubeObject {
    return withMetadata(object, this.kindOf(object), {
      place,
      uid: execution.uid ?? "",
      operator: version.spec?.operator?.name ?? "",
      operatorVersion: version.spec?.version ?? "",
      instance: instance.metadata.name!,
      namespace: instance.metadata.namespace!,
    });
  }

  kindOf(object: KubeObject): KindRef<KubeObject> {
    const kind = this.#kindOf(object);
    if (kind) return kind;
    const what = groupKindText({ group: parseApiVersion(object.apiVersion).group, kind: object.kind });
    throw new FatalTaskError(
      "TaskEnhancementError",
      `${object.kind} ${object.metadata.name}: the cluster does not serve ${what} in ${object.apiVersion}: install its definition, or correct apiVersion and kind in the template`,
    );
  }

  /** The instance of another package that a KudoOperator task makes. */
  dependency(plan: ExecutedPlan, place: TaskPlace, task: Task): KubeObject {
    const { package: operator = "", instanceName, operatorVersion, appVersion, parameterFile } = task.spec ?? {};
    if (!operator || !operatorVersion) {
      const field = operator ? "operatorVersion" : "package";
      throw new FatalTaskError("TaskBuildError", `kudo operator task '${task.name}' has an empty ${field}`);
    }
    const { name, namespace } = plan.instance.metadata;
    const templates = () => this.#templates(plan, place, [parameterFile!]);
    const parameters = parameterFile ? fatal(() => this.#engine.parameters(templates())) : {};
    return {
      apiVersion: "kudo.dev/v1beta1",
      kind: Instance.kind,
      metadata: {
        name: instanceName || `${name}-${operator}`,
        namespace: namespace!,
        labels: { [OPERATOR_LABEL]: operator },
      },
      spec: { operatorVersion: { name: versionName(operator, appVersion, operatorVersion) }, parameters },
    } as KubeObject;
  }

  #templates(
    { instance, version, execution }: ExecutedPlan,
    place: TaskPlace,
    names: readonly string[],
  ): TaskTemplates {
    const { spec, metadata } = version;
    const templates = names.map((name) => {
      const text = spec?.templates?.[name];
      if (text === undefined) {
        throw new FatalTaskError(
          "TaskRenderingError",
          `error finding resource named ${name}: it is not among the templates of ${metadata.name}`,
        );
      }
      return { name, text };
    });
    const values = {
      OperatorName: spec?.operator?.name ?? "",
      Name: instance.metadata.name,
      Namespace: instance.metadata.namespace,
      AppVersion: spec?.appVersion ?? "",
      OperatorVersion: spec?.version ?? "",
      PlanName: place.plan,
      PhaseName: place.phase,
      StepName: place.step,
      Pipes: pipesOf(version, place.plan, instance),
    };
    const seed = `${instance.metadata.uid}/${execution.uid}`;
    return { templates, values, parameters: valuesOf(version, execution.parameters), seed, now: 0 };
  }
}

function fatal<R>(render: () => R): R {
  try {
    return render();
  } catch (error) {
    if (error instanceof TemplateError) throw new FatalTaskError("TaskRenderingError", error.message);
    throw error;
  }
}

/** The name of an OperatorVersion. */
export function versionName(operator: string, appVersion: string | undefined, version: string): string {
  return appVersion ? `${operator}-${appVersion}-${version}` : `${operator}-${version}`;
}

/** `.Pipes`: the names of the ConfigMaps and Secrets that pipe tasks of a plan make. */
function pipesOf({ spec }: OperatorVersion, name: string, instance: Instance): Record<string, string> {
  const all: Record<string, string> = {};
  const plan = spec?.plans?.[name];
  for (const phase of plan?.phases ?? []) {
    for (const step of phase.steps ?? []) {
      for (const task of step.tasks ?? []) {
        const place = { plan: name, phase: phase.name ?? "", step: step.name ?? "", task };
        const found = spec?.tasks?.find((one) => one.name === task && one.kind === "Pipe");
        for (const { key = "" } of found?.spec?.pipe ?? []) {
          if (Object.hasOwn(all, key)) throw new FatalTaskError("InvalidPlan", `duplicated pipe key ${key}`);
          all[key] = pipeName(instance, place, key);
        }
      }
    }
  }
  return all;
}

/** The name of what a pipe task makes: of its pod with the suffix `pipepod`, of an artifact with its key. */
export function pipeName({ metadata }: Instance, { plan, phase, step, task }: TaskPlace, suffix: string): string {
  const parts = [metadata.name!, plan, phase, step, task, suffix];
  return parts.map((part) => part.toLowerCase().replace(/[^a-z0-9]+/g, "")).join(".");
}
