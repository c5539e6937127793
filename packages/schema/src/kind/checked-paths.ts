import type { FieldOf, NoSuchField } from "@konverge/core";
import type { z } from "zod";
import type { StatusOf, VersionDefinition, VersionDefinitions } from "./definition.ts";

/**
 * Refuses paths of columns, of `scale` and of selectable fields to fields that a version does not have, at the path. What an
 * index or a filter leads to is only checked when the kind is defined.
 */
export interface CheckedPaths<V extends VersionDefinitions> {
  readonly versions: {
    readonly [N in keyof V]: {
      readonly columns?: CheckedEach<V[N], V[N]["columns"]>;
      readonly scale?: CheckedEach<V[N], V[N]["scale"]>;
      readonly selectableFields?: CheckedEach<V[N], V[N]["selectableFields"]>;
    };
  };
}

type CheckedEach<V extends VersionDefinition, Paths> = {
  readonly [K in keyof Paths]: Paths[K] extends string
    ? HasField<Shape<V>, Paths[K]> extends true
      ? Paths[K]
      : NoSuchField<Paths[K]>
    : Paths[K];
};

interface Shape<V extends VersionDefinition> {
  readonly metadata: unknown;
  readonly spec: z.core.input<V["spec"]>;
  readonly status: StatusOf<V>;
}

type HasField<T, Path extends string> = [T] extends [never]
  ? false
  : string extends Path
    ? true
    : unknown extends T
      ? true
      : Path extends `${string}${"[" | "*" | ".." | "\\"}${string}`
        ? true
        : Path extends `.${infer Head}.${infer Rest}`
          ? HasField<Exclude<FieldOf<T, Head>, null | undefined>, `.${Rest}`>
          : Path extends `.${infer Name}`
            ? [FieldOf<T, Name>] extends [never]
              ? false
              : true
            : false;
