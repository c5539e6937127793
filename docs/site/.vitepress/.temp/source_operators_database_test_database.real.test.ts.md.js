import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"database.real.test.ts","description":"","frontmatter":{"aside":false,"pageClass":"source-page"},"headers":[],"relativePath":"source/operators/database/test/database.real.test.ts.md","filePath":"source/operators/database/test/database.real.test.ts.md"}');
const _sfc_main = { name: "source/operators/database/test/database.real.test.ts.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="databaserealtestts" tabindex="-1">database.real.test.ts <a class="header-anchor" href="#databaserealtestts" aria-label="Permalink to &quot;database.real.test.ts&quot;">​</a></h1><p><code>operators/database/test/database.real.test.ts</code>, part of <a href="/operators/database/">Database operator</a></p><div class="language-ts vp-adaptive-theme line-numbers-mode"><button title="Copy Code" class="copy"></button><span class="lang">ts</span><pre class="shiki shiki-themes github-light github-dark vp-code" tabindex="0"><code><span class="line"><span style="--shiki-light:#D73A49;--shiki-dark:#F97583;">import</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;"> { onReal } </span><span style="--shiki-light:#D73A49;--shiki-dark:#F97583;">from</span><span style="--shiki-light:#032F62;--shiki-dark:#9ECBFF;"> &quot;@konverge/operator-suite&quot;</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;">;</span></span>
<span class="line"><span style="--shiki-light:#D73A49;--shiki-dark:#F97583;">import</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;"> { aDatabaseRunsByALesserDefinition } </span><span style="--shiki-light:#D73A49;--shiki-dark:#F97583;">from</span><span style="--shiki-light:#032F62;--shiki-dark:#9ECBFF;"> &quot;./lesser-definition.ts&quot;</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;">;</span></span>
<span class="line"><span style="--shiki-light:#D73A49;--shiki-dark:#F97583;">import</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;"> { badInput, ends, hibernates, lives, upgraded } </span><span style="--shiki-light:#D73A49;--shiki-dark:#F97583;">from</span><span style="--shiki-light:#032F62;--shiki-dark:#9ECBFF;"> &quot;./scenarios.ts&quot;</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;">;</span></span>
<span class="line"></span>
<span class="line"><span style="--shiki-light:#6F42C1;--shiki-dark:#B392F0;">onReal</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;">({</span></span>
<span class="line"><span style="--shiki-light:#032F62;--shiki-dark:#9ECBFF;">  &quot;a server with its volume, Service, settings and password&quot;</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;">: lives,</span></span>
<span class="line"><span style="--shiki-light:#032F62;--shiki-dark:#9ECBFF;">  &quot;the server stops before the object goes; volumes go or stay as asked&quot;</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;">: ends,</span></span>
<span class="line"><span style="--shiki-light:#032F62;--shiki-dark:#9ECBFF;">  &quot;another version rolls out with the data and the password it had&quot;</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;">: upgraded,</span></span>
<span class="line"><span style="--shiki-light:#032F62;--shiki-dark:#9ECBFF;">  &quot;a hibernated database keeps its data&quot;</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;">: hibernates,</span></span>
<span class="line"><span style="--shiki-light:#032F62;--shiki-dark:#9ECBFF;">  &quot;a database runs also where the definition of a tutorial is installed&quot;</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;">: aDatabaseRunsByALesserDefinition,</span></span>
<span class="line"><span style="--shiki-light:#032F62;--shiki-dark:#9ECBFF;">  &quot;bad input is refused or reported, and recovers when mended&quot;</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;">: badInput,</span></span>
<span class="line"><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;">});</span></span></code></pre><div class="line-numbers-wrapper" aria-hidden="true"><span class="line-number">1</span><br><span class="line-number">2</span><br><span class="line-number">3</span><br><span class="line-number">4</span><br><span class="line-number">5</span><br><span class="line-number">6</span><br><span class="line-number">7</span><br><span class="line-number">8</span><br><span class="line-number">9</span><br><span class="line-number">10</span><br><span class="line-number">11</span><br><span class="line-number">12</span><br></div></div></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("source/operators/database/test/database.real.test.ts.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const database_real_test_ts = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  database_real_test_ts as default
};
