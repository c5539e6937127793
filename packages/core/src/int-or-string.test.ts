import assert from "node:assert/strict";
import { test } from "node:test";
import { resolveIntOrPercent } from "./int-or-string.ts";

test("a number stands for itself, a percentage for its share of the total", () => {
  assert.equal(resolveIntOrPercent(3, 10, "up"), 3);
  assert.equal(resolveIntOrPercent("25%", 10, "up"), 3);
  assert.equal(resolveIntOrPercent("25%", 10, "down"), 2);
  assert.equal(resolveIntOrPercent("0%", 10, "up"), 0);
  assert.equal(resolveIntOrPercent("100%", 7, "down"), 7);
  assert.equal(resolveIntOrPercent("150%", 7, "down"), 10);
  assert.equal(resolveIntOrPercent("-25%", 10, "up"), -2);
  assert.equal(resolveIntOrPercent("-5%", 10, "up"), 0);
});

test("what is neither is refused in Kubernetes' words", () => {
  const refused = (value: string | undefined, message: string) =>
    assert.throws(() => resolveIntOrPercent(value, 10, "up"), { message });
  refused(undefined, "nil value for IntOrString");
  refused("5", "invalid value for IntOrString: invalid type: string is not a percentage");
  refused("", "invalid value for IntOrString: invalid type: string is not a percentage");
  refused("a%", 'invalid value for IntOrString: invalid value "a%": strconv.Atoi: parsing "a": invalid syntax');
  refused("1.5%", 'invalid value for IntOrString: invalid value "1.5%": strconv.Atoi: parsing "1.5": invalid syntax');
  refused(
    "99999999999999999999%",
    'invalid value for IntOrString: invalid value "99999999999999999999%": strconv.Atoi: parsing "99999999999999999999": value out of range',
  );
});
