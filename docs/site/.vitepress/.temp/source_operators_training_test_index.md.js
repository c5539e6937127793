import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"Test","description":"","frontmatter":{"aside":false},"headers":[],"relativePath":"source/operators/training/test/index.md","filePath":"source/operators/training/test/index.md"}');
const _sfc_main = { name: "source/operators/training/test/index.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="test" tabindex="-1">Test <a class="header-anchor" href="#test" aria-label="Permalink to &quot;Test&quot;">​</a></h1><p><code>operators/training/test</code>, part of <a href="/operators/training/">The training operator</a></p><ul><li><a href="/source/operators/training/test/bad-input-scenarios.ts.html">bad-input-scenarios.ts</a></li><li><a href="/source/operators/training/test/bad-input.real.test.ts.html">bad-input.real.test.ts</a></li><li><a href="/source/operators/training/test/bad-input.test.ts.html">bad-input.test.ts</a></li><li><a href="/source/operators/training/test/conversion-scenarios.ts.html">conversion-scenarios.ts</a></li><li><a href="/source/operators/training/test/conversion.test.ts.html">conversion.test.ts</a></li><li><a href="/source/operators/training/test/ending-scenarios.ts.html">ending-scenarios.ts</a></li><li><a href="/source/operators/training/test/ending.test.ts.html">ending.test.ts</a></li><li><a href="/source/operators/training/test/example-job.ts.html">example-job.ts</a></li><li><a href="/source/operators/training/test/gang-scheduling-scenarios.ts.html">gang-scheduling-scenarios.ts</a></li><li><a href="/source/operators/training/test/gang-scheduling.test.ts.html">gang-scheduling.test.ts</a></li><li><a href="/source/operators/training/test/jobs.ts.html">jobs.ts</a></li><li><a href="/source/operators/training/test/lifecycle-scenarios.ts.html">lifecycle-scenarios.ts</a></li><li><a href="/source/operators/training/test/lifecycle.test.ts.html">lifecycle.test.ts</a></li><li><a href="/source/operators/training/test/progress.test.ts.html">progress.test.ts</a></li><li><a href="/source/operators/training/test/restart-scenarios.ts.html">restart-scenarios.ts</a></li><li><a href="/source/operators/training/test/restart.real.test.ts.html">restart.real.test.ts</a></li><li><a href="/source/operators/training/test/restart.test.ts.html">restart.test.ts</a></li><li><a href="/source/operators/training/test/samples.test.ts.html">samples.test.ts</a></li><li><a href="/source/operators/training/test/survival-scenarios.ts.html">survival-scenarios.ts</a></li><li><a href="/source/operators/training/test/survival.proof.test.ts.html">survival.proof.test.ts</a></li><li><a href="/source/operators/training/test/survival.test.ts.html">survival.test.ts</a></li><li><a href="/source/operators/training/test/training.real.test.ts.html">training.real.test.ts</a></li><li><a href="/source/operators/training/test/tutorial.test.ts.html">tutorial.test.ts</a></li></ul></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("source/operators/training/test/index.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const index = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  index as default
};
