// Decodes the data of the page off the main thread: base64, then one zlib stream.
interface FromBase64 { fromBase64?(text: string): Uint8Array<ArrayBuffer> }

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const native = (Uint8Array as unknown as FromBase64).fromBase64;
  if (native) return native.call(Uint8Array, text);
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

onmessage = async (event: MessageEvent<string | ArrayBuffer>) => {
  try {
    const packed = typeof event.data === "string" ? bytesOf(event.data) : new Uint8Array(event.data);
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    const buffer = await new Response(stream).arrayBuffer();
    postMessage(buffer, { transfer: [buffer] });
  } catch (error) {
    postMessage(String(error));
  }
};
