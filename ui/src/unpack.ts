// Decompresses data in a worker.
declare const WORKER_SOURCE: string;

type Policy = { createScriptURL(url: string): string };
declare global { interface Window { trustedTypes?: { createPolicy(name: string, rules: Policy): Policy } } }

let policy: Policy | undefined; // one of a name can be made once

export function unpack(packed: string | ArrayBuffer): Promise<ArrayBuffer> {
  policy ??= window.trustedTypes?.createPolicy("chiliad", { createScriptURL: (url) => url });
  const url = URL.createObjectURL(new Blob([WORKER_SOURCE], { type: "text/javascript" }));
  const worker = new Worker(policy ? policy.createScriptURL(url) : url);
  return new Promise<ArrayBuffer>((resolve, reject) => {
    worker.onmessage = (event: MessageEvent<ArrayBuffer | string>) => {
      if (typeof event.data === "string") reject(new Error(event.data)); else resolve(event.data);
    };
    worker.onerror = (event) => reject(new Error(event.message));
    worker.postMessage(packed, typeof packed === "string" ? [] : [packed]);
  }).finally(() => { worker.terminate(); URL.revokeObjectURL(url); });
}
