// Pixels onto a canvas whose bitmap has exactly the screen's pixels: nothing is resampled after the core drew it.

/** Size in device pixels of a box of CSS pixels. */
export function devicePixels(cssPixels: number): number {
  return Math.max(1, Math.round(cssPixels * (globalThis.devicePixelRatio || 1)));
}

/** Puts width × height RGBA bytes on the canvas. Throws where the canvas gives no context. */
export function paint(
  canvas: HTMLCanvasElement,
  rgba: Uint8ClampedArray<ArrayBuffer>,
  width: number,
  height: number,
): void {
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const context = canvas.getContext("2d");
  if (!context) throw new Error("The browser refused a canvas to draw on.");
  context.putImageData(new ImageData(rgba, width, height), 0, 0);
}
