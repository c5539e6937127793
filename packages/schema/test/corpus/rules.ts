import { cel, defineKind, duration, immutable, listMap, maxProperties, z } from "@konverge/schema";

/** CEL rules in every place, and what is made of them. */

const group = "rules.example.com";

export const FieldRules = defineKind({
  group,
  kind: "FieldRule",
  versions: {
    v1: {
      spec: z.object({
        even: z.int().check(cel("self % 2 == 0", "must be even")).optional(),
        name: z.string().max(20).check(cel("!self.startsWith('kube-')", "kube- is reserved")).optional(),
        list: z.array(z.int()).max(10).check(cel("self.all(x, x > 0)", "must all be positive")).optional(),
        map: z
          .record(z.string(), z.string().max(20))
          .check(maxProperties(5))
          .check(cel("self.all(key, key.matches('^[a-z]+$'))", "keys must be lower case"))
          .optional(),
        range: z
          .object({ min: z.int(), max: z.int() })
          .check(cel("self.min <= self.max", { message: "min must not exceed max", fieldPath: ".min" }))
          .optional(),
        timeout: duration().check(cel("self <= duration('1h')", "at most an hour")).optional(),
        items: z
          .array(z.object({ name: z.string().max(10), weight: z.int() }))
          .max(5)
          .check(listMap("name"))
          .check(cel("self.map(item, item.weight).sum() <= 100", "weights must not exceed 100 in all"))
          .optional(),
      }),
    },
  },
});

export const ObjectRules = defineKind({
  group,
  kind: "ObjectRule",
  versions: {
    v1: {
      spec: z.object({ owner: z.string().max(63).default("nobody"), count: z.int().default(1) }),
      status: z.object({ count: z.int().optional() }),
      rules: [
        cel("self.count < 10", { reason: "FieldValueForbidden", message: "fewer than 10" }),
        cel("self.count != 5", { messageExpression: "'five is not for ' + self.owner" }),
      ],
      objectRules: [cel("self.metadata.name.size() <= 20", "the name is too long")],
    },
  },
});

export const Frozen = defineKind({
  group,
  kind: "Frozen",
  plural: "frozen",
  versions: {
    v1: {
      spec: z.object({
        required: z.string().max(10).check(immutable()),
        optional: z.string().max(10).check(immutable()).optional(),
        once: z
          .string()
          .max(10)
          .check(immutable({ settable: true }))
          .optional(),
        defaulted: z.string().max(10).check(immutable()).default("d"),
        "dashed-name": z.int().check(immutable()).optional(),
        growing: z.int().check(cel("self >= oldSelf", "may only grow")).optional(),
        object: z.object({ a: z.int().optional() }).check(immutable()).optional(),
      }),
    },
  },
});

export const Optional = defineKind({
  group,
  kind: "OptionalRule",
  versions: {
    v1: {
      spec: z.object({
        size: z
          .int()
          .check(
            cel("oldSelf.hasValue() ? self >= oldSelf.value() : self < 100", {
              message: "too large",
              optionalOldSelf: true,
            }),
          )
          .optional(),
      }),
    },
  },
});
