import { type FieldError, type LabelSelector, labelValueErrors, qualifiedNameErrors } from "@konverge/core";
import { forbidden, invalidValue, labelErrors, required } from "@konverge/schema";

/** What is wrong with a label selector. */
export function labelSelectorErrors(selector: LabelSelector, field: string): FieldError[] {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return [
    ...labelErrors(matchLabels ?? {}, `${field}.matchLabels`),
    ...(matchExpressions ?? []).flatMap(({ key, operator, values = [] }, index) => {
      const at = `${field}.matchExpressions[${index}]`;
      const errors: FieldError[] = [];
      switch (operator as string) {
        case "In":
        case "NotIn":
          if ((values ?? []).length > 0) break;
          errors.push(required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
          break;
        case "Exists":
        case "DoesNotExist":
          if ((values ?? []).length === 0) break;
          errors.push(forbidden(`${at}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
          break;
        default:
          errors.push(invalidValue(`${at}.operator`, operator, "not a valid selector operator"));
      }
      for (const detail of qualifiedNameErrors(key)) errors.push(invalidValue(`${at}.key`, key, detail));
      (values ?? []).forEach((value, place) => {
        for (const detail of labelValueErrors(value))
          errors.push(invalidValue(`${at}.values[${place}]`, value, detail));
      });
      return errors;
    }),
  ];
}

/** Whether a selector selects everything. */
export function selectsAll({ matchLabels, matchExpressions }: LabelSelector): boolean {
  return Object.keys(matchLabels ?? {}).length === 0 && (matchExpressions ?? []).length === 0;
}
