const c=(l,t)=>{const d=process.cpuUsage(t);console.log(l,((d.user+d.system)/1000).toFixed(0),'ms cpu');};
let t=process.cpuUsage(); const {startCluster,openPort}=await import("@konverge/cluster"); c('import',t);
t=process.cpuUsage(); const k=await startCluster({nodes:[]}); c('start',t);
t=process.cpuUsage(); const p=await k.listen({}); c('port',t);
t=process.cpuUsage(); p.kubeconfig(); c('kubeconfig',t);
process.exit(0);
