import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"go.mod","description":"","frontmatter":{"aside":false,"pageClass":"source-page"},"headers":[],"relativePath":"source/tools/peers/controller-runtime/go.mod.md","filePath":"source/tools/peers/controller-runtime/go.mod.md"}');
const _sfc_main = { name: "source/tools/peers/controller-runtime/go.mod.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="gomod" tabindex="-1">go.mod <a class="header-anchor" href="#gomod" aria-label="Permalink to &quot;go.mod&quot;">​</a></h1><p><code>tools/peers/controller-runtime/go.mod</code></p><div class="language-text vp-adaptive-theme line-numbers-mode"><button title="Copy Code" class="copy"></button><span class="lang">text</span><pre class="shiki shiki-themes github-light github-dark vp-code" tabindex="0"><code><span class="line"><span>module konverge.dev/peers/controller-runtime</span></span>
<span class="line"><span></span></span>
<span class="line"><span>go 1.26.0</span></span>
<span class="line"><span></span></span>
<span class="line"><span>require (</span></span>
<span class="line"><span>	k8s.io/api v0.37.0</span></span>
<span class="line"><span>	k8s.io/apimachinery v0.37.0</span></span>
<span class="line"><span>	k8s.io/client-go v0.37.0</span></span>
<span class="line"><span>	sigs.k8s.io/controller-runtime v0.25.2</span></span>
<span class="line"><span>)</span></span>
<span class="line"><span></span></span>
<span class="line"><span>require (</span></span>
<span class="line"><span>	github.com/beorn7/perks v1.0.1 // indirect</span></span>
<span class="line"><span>	github.com/cespare/xxhash/v2 v2.3.0 // indirect</span></span>
<span class="line"><span>	github.com/davecgh/go-spew v1.1.2-0.20180830191138-d8f796af33cc // indirect</span></span>
<span class="line"><span>	github.com/emicklei/go-restful/v3 v3.13.0 // indirect</span></span>
<span class="line"><span>	github.com/evanphx/json-patch/v5 v5.9.11 // indirect</span></span>
<span class="line"><span>	github.com/fsnotify/fsnotify v1.9.0 // indirect</span></span>
<span class="line"><span>	github.com/fxamacker/cbor/v2 v2.9.1 // indirect</span></span>
<span class="line"><span>	github.com/go-logr/logr v1.4.3 // indirect</span></span>
<span class="line"><span>	github.com/go-logr/zapr v1.3.0 // indirect</span></span>
<span class="line"><span>	github.com/go-openapi/jsonpointer v1.0.0 // indirect</span></span>
<span class="line"><span>	github.com/go-openapi/jsonreference v1.0.0 // indirect</span></span>
<span class="line"><span>	github.com/go-openapi/swag v0.27.1 // indirect</span></span>
<span class="line"><span>	github.com/go-openapi/swag/cmdutils v0.27.1 // indirect</span></span>
<span class="line"><span>	github.com/go-openapi/swag/conv v0.27.1 // indirect</span></span>
<span class="line"><span>	github.com/go-openapi/swag/fileutils v0.27.1 // indirect</span></span>
<span class="line"><span>	github.com/go-openapi/swag/jsonutils v0.27.1 // indirect</span></span>
<span class="line"><span>	github.com/go-openapi/swag/loading v0.27.1 // indirect</span></span>
<span class="line"><span>	github.com/go-openapi/swag/mangling v0.27.1 // indirect</span></span>
<span class="line"><span>	github.com/go-openapi/swag/netutils v0.27.1 // indirect</span></span>
<span class="line"><span>	github.com/go-openapi/swag/pools v0.27.1 // indirect</span></span>
<span class="line"><span>	github.com/go-openapi/swag/stringutils v0.27.1 // indirect</span></span>
<span class="line"><span>	github.com/go-openapi/swag/typeutils v0.27.1 // indirect</span></span>
<span class="line"><span>	github.com/go-openapi/swag/yamlutils v0.27.1 // indirect</span></span>
<span class="line"><span>	github.com/google/gnostic-models v0.7.0 // indirect</span></span>
<span class="line"><span>	github.com/google/uuid v1.6.0 // indirect</span></span>
<span class="line"><span>	github.com/json-iterator/go v1.1.12 // indirect</span></span>
<span class="line"><span>	github.com/modern-go/concurrent v0.0.0-20180306012644-bacd9c7ef1dd // indirect</span></span>
<span class="line"><span>	github.com/modern-go/reflect2 v1.0.3-0.20250322232337-35a7c28c31ee // indirect</span></span>
<span class="line"><span>	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect</span></span>
<span class="line"><span>	github.com/pmezard/go-difflib v1.0.1-0.20181226105442-5d4384ee4fb2 // indirect</span></span>
<span class="line"><span>	github.com/prometheus/client_golang v1.24.0 // indirect</span></span>
<span class="line"><span>	github.com/prometheus/client_model v0.6.2 // indirect</span></span>
<span class="line"><span>	github.com/prometheus/common v0.70.0 // indirect</span></span>
<span class="line"><span>	github.com/prometheus/procfs v0.21.1 // indirect</span></span>
<span class="line"><span>	github.com/spf13/pflag v1.0.10 // indirect</span></span>
<span class="line"><span>	github.com/x448/float16 v0.8.4 // indirect</span></span>
<span class="line"><span>	go.uber.org/multierr v1.11.0 // indirect</span></span>
<span class="line"><span>	go.uber.org/zap v1.27.1 // indirect</span></span>
<span class="line"><span>	go.yaml.in/yaml/v2 v2.4.4 // indirect</span></span>
<span class="line"><span>	go.yaml.in/yaml/v3 v3.0.4 // indirect</span></span>
<span class="line"><span>	golang.org/x/net v0.57.0 // indirect</span></span>
<span class="line"><span>	golang.org/x/oauth2 v0.36.0 // indirect</span></span>
<span class="line"><span>	golang.org/x/sync v0.22.0 // indirect</span></span>
<span class="line"><span>	golang.org/x/sys v0.47.0 // indirect</span></span>
<span class="line"><span>	golang.org/x/term v0.45.0 // indirect</span></span>
<span class="line"><span>	golang.org/x/text v0.40.0 // indirect</span></span>
<span class="line"><span>	golang.org/x/time v0.15.0 // indirect</span></span>
<span class="line"><span>	gomodules.xyz/jsonpatch/v2 v2.4.0 // indirect</span></span>
<span class="line"><span>	google.golang.org/protobuf v1.36.12-0.20260120151049-f2248ac996af // indirect</span></span>
<span class="line"><span>	gopkg.in/evanphx/json-patch.v4 v4.13.0 // indirect</span></span>
<span class="line"><span>	gopkg.in/inf.v0 v0.9.1 // indirect</span></span>
<span class="line"><span>	k8s.io/apiextensions-apiserver v0.37.0 // indirect</span></span>
<span class="line"><span>	k8s.io/klog/v2 v2.140.0 // indirect</span></span>
<span class="line"><span>	k8s.io/kube-openapi v0.0.0-20260721132016-d427ff9ee9ad // indirect</span></span>
<span class="line"><span>	k8s.io/utils v0.0.0-20260626114624-be93311217bd // indirect</span></span>
<span class="line"><span>	sigs.k8s.io/json v0.0.0-20250730193827-2d320260d730 // indirect</span></span>
<span class="line"><span>	sigs.k8s.io/randfill v1.0.0 // indirect</span></span>
<span class="line"><span>	sigs.k8s.io/structured-merge-diff/v6 v6.4.2 // indirect</span></span>
<span class="line"><span>	sigs.k8s.io/yaml v1.6.0 // indirect</span></span>
<span class="line"><span>)</span></span></code></pre><div class="line-numbers-wrapper" aria-hidden="true"><span class="line-number">1</span><br><span class="line-number">2</span><br><span class="line-number">3</span><br><span class="line-number">4</span><br><span class="line-number">5</span><br><span class="line-number">6</span><br><span class="line-number">7</span><br><span class="line-number">8</span><br><span class="line-number">9</span><br><span class="line-number">10</span><br><span class="line-number">11</span><br><span class="line-number">12</span><br><span class="line-number">13</span><br><span class="line-number">14</span><br><span class="line-number">15</span><br><span class="line-number">16</span><br><span class="line-number">17</span><br><span class="line-number">18</span><br><span class="line-number">19</span><br><span class="line-number">20</span><br><span class="line-number">21</span><br><span class="line-number">22</span><br><span class="line-number">23</span><br><span class="line-number">24</span><br><span class="line-number">25</span><br><span class="line-number">26</span><br><span class="line-number">27</span><br><span class="line-number">28</span><br><span class="line-number">29</span><br><span class="line-number">30</span><br><span class="line-number">31</span><br><span class="line-number">32</span><br><span class="line-number">33</span><br><span class="line-number">34</span><br><span class="line-number">35</span><br><span class="line-number">36</span><br><span class="line-number">37</span><br><span class="line-number">38</span><br><span class="line-number">39</span><br><span class="line-number">40</span><br><span class="line-number">41</span><br><span class="line-number">42</span><br><span class="line-number">43</span><br><span class="line-number">44</span><br><span class="line-number">45</span><br><span class="line-number">46</span><br><span class="line-number">47</span><br><span class="line-number">48</span><br><span class="line-number">49</span><br><span class="line-number">50</span><br><span class="line-number">51</span><br><span class="line-number">52</span><br><span class="line-number">53</span><br><span class="line-number">54</span><br><span class="line-number">55</span><br><span class="line-number">56</span><br><span class="line-number">57</span><br><span class="line-number">58</span><br><span class="line-number">59</span><br><span class="line-number">60</span><br><span class="line-number">61</span><br><span class="line-number">62</span><br><span class="line-number">63</span><br><span class="line-number">64</span><br><span class="line-number">65</span><br><span class="line-number">66</span><br><span class="line-number">67</span><br><span class="line-number">68</span><br><span class="line-number">69</span><br><span class="line-number">70</span><br><span class="line-number">71</span><br><span class="line-number">72</span><br></div></div></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("source/tools/peers/controller-runtime/go.mod.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const go_mod = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  go_mod as default
};
